'use strict';
// All text of items is set by textContent; nothing is ever parsed as HTML.

// The token is removed from the address, and so from the browser's history. It is stored for this tab and this port, so that
// the page can be reloaded. A cookie would be sent to every other port of this machine.
const token = document.querySelector('meta[name="token"]').content;
sessionStorage.setItem('token', token);
history.replaceState(null, '', '/');

const AUTHORIZED = { Authorization: `Bearer ${token}` };
// Maximum number of images kept in memory.
const MAX_PICTURES = 12;
const pictures = new Map();

const at = (id) => document.getElementById(id);
const SVG = 'http://www.w3.org/2000/svg';
let state = null;
let busy = false;
// The number of requests that may have changed the state.
let sent = 0;
let over = false;
// The answered row that the person is looking at again.
let looked = null;
// Whether the person is looking at doubtful answers again before the session ends.
let ending = false;
// What the page shows: an answered row, the question, or, if null, the list of answers to look at again.
const shown = () => looked ?? (ending ? null : state.question);

function element(name, text, className) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  return made;
}

function showMessage(text, isDone = false) {
  at('message').classList.toggle('done', isDone);
  at('message').textContent = text;
  at('message').hidden = text === '';
}

async function call(path, body) {
  const options = body === undefined ? { headers: AUTHORIZED } : {
    method: 'POST',
    headers: { ...AUTHORIZED, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  };
  const reply = await fetch(path, options);
  const answer = await reply.json();
  return { ok: reply.ok, answer };
}

// Loads the image of a row; returns a promise of its object URL. The most recently used images are kept.
function picture(row) {
  const known = pictures.get(row);
  if (known) {
    pictures.delete(row);
    pictures.set(row, known);
  } else {
    const loading = fetch(`/api/image/${row}`, { headers: AUTHORIZED }).then(async (reply) => {
      if (!reply.ok) throw new Error((await reply.json()).error);
      return URL.createObjectURL(await reply.blob());
    });
    pictures.set(row, loading);
    loading.catch(() => pictures.delete(row));
    if (pictures.size > MAX_PICTURES) {
      const [oldest, address] = pictures.entries().next().value;
      pictures.delete(oldest);
      address.then((url) => URL.revokeObjectURL(url), () => {});
    }
  }
  return pictures.get(row);
}

// The small images that were loaded, by row. All of them are kept.
const thumbnails = new Map();

function thumbnail(row) {
  if (!thumbnails.has(row)) {
    thumbnails.set(row, fetch(`/api/thumbnail/${row}`, { headers: AUTHORIZED }).then(async (reply) => (
      reply.ok ? URL.createObjectURL(await reply.blob()) : '')));
  }
  const image = element('img', undefined, 'thumbnail');
  image.alt = '';
  thumbnails.get(row).then((url) => { if (url) image.src = url; }, () => thumbnails.delete(row));
  return image;
}

async function showPicture(row) {
  const isCurrent = () => shown()?.row === row;
  try {
    const url = await picture(row);
    if (isCurrent()) at('image').src = url;
  } catch (error) {
    if (isCurrent()) showMessage(`The image of row ${row} cannot be shown: ${error.message}`);
  }
}

// Waits until the program has replied to the previous action.
async function settled() {
  while (busy) await new Promise((resume) => { setTimeout(resume, 20); });
}

// Sends an action and returns whether it succeeded; `done` is the message in this case. An action that follows another
// one too quickly is not sent.
async function send(path, body, done = '') {
  if (busy || over) return false;
  busy = true;
  sent += 1;
  try {
    const { ok, answer } = await call(path, body);
    showMessage(ok ? done : answer.error, ok && done !== '');
    if (answer.state) show(answer.state);
    return ok;
  } catch {
    showMessage(
      'The program does not respond. All earlier answers are saved, but this one may not be; run the same command to continue.'
    );
    return false;
  } finally {
    busy = false;
  }
}

// Requests the state until the model has learned from every answer.
async function look() {
  if (!busy && !over) {
    const before = sent;
    try {
      const { ok, answer } = await call('/api/state');
      // A reply from before an answer would show the answered question again.
      if (sent !== before) return;
      if (!ok) showMessage(answer.error);
      else show(answer.state);
    } catch {
      showMessage('The program does not respond. All answers are saved; run the same command to continue.');
    }
  }
}

function answer(index) {
  if (!state || !shown()) return;
  const { row } = shown();
  if (!looked) {
    send('/api/answer', { row, class: index });
  } else if (!busy) {
    const isSame = looked.class === index;
    looked = null;
    if (isSame) redraw();
    else send('/api/change', { row, class: index });
  }
}

// Shows an answered row, so that the person can keep or change its answer.
async function lookAgain(row, why) {
  if (busy || over) return;
  try {
    const { ok, answer: item } = await call(`/api/item/${row}`);
    if (!ok) return showMessage(item.error);
    looked = { ...item, why, skipped: false };
    redraw();
  } catch {
    showMessage('The program does not respond. All answers are saved; run the same command to continue.');
  }
}

function redraw() {
  showItem();
  showQuestion();
  showRecent();
}

function back() {
  if (looked) looked = null;
  else ending = false;
  redraw();
}

function show(next) {
  const other = !state || !state.question || !next.question || state.question.row !== next.question.row
    || isMarked(next) && !isMarked(state) || !shown();
  const first = !state;
  state = next;
  at('pool').textContent = state.pool;
  if (first) makeClasses();
  const p = state.progress;
  const review = state.review;
  at('bar').value = review ? review.reviewed / review.rows : p.answered / p.points;
  at('count').textContent = review ? `${review.reviewed} of ${review.rows} reviewed` : `${p.answered} of ${p.points} labelled`;
  // The forecast is for questions about unlabelled rows, so a review does not show it.
  at('progress').classList.toggle('review', Boolean(review));
  at('corrections-name').textContent = review ? 'labels changed' : 'corrections so far';
  at('corrections').textContent = review ? review.changed : p.corrections;
  at('skipped').textContent = p.skipped;
  at('uncertain-count').textContent = p.uncertain;
  const o = state.outlook;
  at('tocome').replaceChildren(Math.round(o.expected) + ' ', element('small', `${Math.round(o.low)} to ${Math.round(o.high)}`));
  at('stop-advice').hidden = !state.stop_advice;
  at('stop-advice').textContent = state.stop_advice ?? '';
  if (other || first) showItem();
  showQuestion();
  drawCurve();
  showRecent();
  if (!state.settled) setTimeout(look, 400);
}

// With more classes than digits, a class can be found by typing a part of its name.
const MAX_WITHOUT_SEARCH = 9;

// Hides the classes whose names do not contain the text; returns the others. If a name equals the text, returns only that class.
function findClasses() {
  const wanted = at('find').value.trim().toLowerCase();
  const names = state.classes.map((name) => name.toLowerCase());
  const exact = names.indexOf(wanted);
  const found = names.flatMap((name, index) => (name.includes(wanted) ? [index] : []));
  [...at('classes').children].forEach((button, index) => { button.hidden = !found.includes(index); });
  return exact >= 0 ? [exact] : found;
}

function leaveSearch() {
  at('find').value = '';
  at('find').blur();
  findClasses();
}

function makeClasses() {
  state.classes.forEach((name, index) => {
    const button = element('button', name);
    button.type = 'button';
    if (state.keys[index] && state.keys[index] !== name) button.append(' ', element('kbd', state.keys[index]));
    button.addEventListener('click', () => { button.blur(); answer(index); });
    at('classes').append(button);
  });
}

// Fills an element with a text whose words are marked according to their levels.
function fill(made, value, parts) {
  if (parts.length === 0) made.textContent = value;
  for (const [text, level] of parts) {
    if (level === 0) made.append(text);
    else made.append(element('mark', text, (level > 0 ? 'yes' : 'no') + Math.abs(level)));
  }
  return made;
}

const isMarked = (view) => Boolean(view && view.question)
  && [...view.question.item.texts, ...view.question.item.features].some((cell) => cell.parts.length > 0);

function showItem() {
  const question = shown();
  const image = at('image');
  const item = question ? question.item : { texts: [], features: [], image: false };
  at('row').textContent = question ? `row ${question.row}${question.skipped ? ', skipped before' : ''}` : '';
  image.hidden = !item.image;
  image.removeAttribute('src');
  if (item.image) {
    image.alt = `image of row ${question.row}`;
    showPicture(question.row);
  }
  at('texts').replaceChildren();
  for (const { name, value, parts } of item.texts) {
    at('texts').append(element('h2', name), fill(element('p'), value, parts));
  }
  at('features').hidden = item.features.length === 0;
  const body = at('features').tBodies[0];
  body.replaceChildren();
  for (const { name, value, parts } of item.features) {
    const row = element('tr');
    row.append(element('td', name), fill(element('td'), value, parts));
    body.append(row);
  }
  if (question && item.more_features > 0) {
    const row = element('tr');
    row.append(element('td', `and ${item.more_features} more columns`), element('td', ''));
    body.append(row);
  }
  at('marks').hidden = !question || Boolean(looked) || !isMarked(state);
  showSecond();
  at('marked-class').textContent = question ? state.classes[question.class] ?? '' : '';
  at('item').scrollTop = 0;
  for (const row of state.ahead) picture(row).catch(() => {});
}

function sure(probability) {
  if (probability !== null) return `predicted, ${(100 * probability).toFixed(0)} % sure`;
  return state.suggested ? 'suggested' : 'a guess: not every class has a label yet';
}

// The name of a class, shortened for a button.
const brief = (index) => (state.classes[index].length > 20 ? `${state.classes[index].slice(0, 19)}…` : state.classes[index]);

// What it means to confirm the prediction. In a review it keeps or changes the known label.
function confirmation(question) {
  if (!question || question.known === null) return 'Correct';
  if (question.known === question.class) return `Keep ${brief(question.known)}`;
  return `Change ${brief(question.known)} to ${brief(question.class)}`;
}

function showQuestion() {
  const question = shown();
  const isOpen = Boolean(question) && !looked;
  if (looked) {
    at('guess').textContent = looked.class === null ? 'Uncertain' : state.classes[looked.class];
    at('sure').textContent = looked.why;
  } else if (question) {
    at('guess').textContent = state.classes[question.class];
    at('sure').textContent = sure(question.probability);
  } else {
    at('guess').textContent = state.question ? 'Before you stop' : state.review ? 'Every row to review has an answer.' : 'Every row has an answer.';
    at('sure').textContent = state.doubts.length + state.uncertain.length > 0 ? 'Look again at these answers, or finish.' : 'You can finish.';
  }
  at('confirm').firstElementChild.textContent = looked ? 'Keep' : confirmation(question);
  at('confirm').disabled = !question;
  for (const id of ['uncertain', 'skip']) at(id).disabled = !isOpen;
  for (const id of ['confirm', 'uncertain', 'skip', 'classes']) at(id).hidden = !question;
  at('find').hidden = !question || state.classes.length <= MAX_WITHOUT_SEARCH;
  at('stop').hidden = !question;
  at('finish').hidden = Boolean(question);
  at('continue').hidden = Boolean(question) || !state.question;
  at('undo').disabled = !state.can_undo || Boolean(looked);
  at('undo').title = state.undo_text ? `Undo ${state.undo_text}` : '';
  [...at('classes').children].forEach((button, index) => {
    button.disabled = !question;
    button.classList.toggle('predicted', Boolean(question) && index === question.class);
  });
  // With many classes, the box of buttons scrolls to the predicted one.
  const box = at('classes');
  const predicted = question ? box.children[question.class] : null;
  if (predicted) box.scrollTop = predicted.offsetTop - box.offsetTop - (box.clientHeight - predicted.offsetHeight) / 2;
}

function drawCurve() {
  const box = { left: 30, right: 312, top: 8, bottom: 130 };
  const shape = (name, attributes, text) => {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text !== undefined) made.textContent = text;
    return made;
  };
  const curve = state.curve;
  // A single point does not make a curve.
  at('progress').classList.toggle('early', state.progress.asked < 2);
  const most = Math.max(1, ...curve.map((point) => Math.max(point[1], point[2] ?? 0)));
  const last = Math.max(1, curve.length ? curve[curve.length - 1][0] : 1);
  const x = (value) => box.left + (box.right - box.left) * value / last;
  const y = (value) => box.bottom - (box.bottom - box.top) * value / most;
  const path = (column) => {
    let text = '';
    for (const point of curve) {
      if (point[column] !== null) text += `${text ? 'L' : 'M'}${x(point[0]).toFixed(1)} ${y(point[column]).toFixed(1)}`;
    }
    return text;
  };
  at('curve').replaceChildren(
    shape('path', { class: 'axis', d: `M${box.left} ${box.top}V${box.bottom}H${box.right}` }),
    shape('text', { x: box.left - 4, y: box.top + 6, 'text-anchor': 'end' }, Math.round(most)),
    shape('text', { x: box.left - 4, y: box.bottom, 'text-anchor': 'end' }, '0'),
    shape('text', { x: box.right, y: box.bottom + 12, 'text-anchor': 'end' }, `${last} answers`),
    shape('path', { class: 'expected', d: path(2) }),
    shape('path', { class: 'so-far', d: path(1) }),
  );
}

// The button for a row in a list; a click shows the row again.
function rowOf(row, text, why) {
  const what = element('button', text ? `row ${row}: ${text}` : `row ${row}`, 'what');
  what.type = 'button';
  if (state.images) what.prepend(thumbnail(row));
  what.addEventListener('click', () => { what.blur(); lookAgain(row, why); });
  return what;
}

function showSecond() {
  const isShown = !shown();
  at('second').hidden = !isShown;
  if (!isShown) return;
  const list = (id, rows) => at(id).replaceChildren(...rows.map(({ row, text, why }) => {
    const line = element('li');
    line.append(rowOf(row, text, why));
    if (id === 'doubts') line.append(element('span', why, 'why'));
    return line;
  }));
  list('doubts', state.doubts.map(({ row, text, class: given, predicted, probability }) => ({
    row, text, why: `labelled ${state.classes[given]} (${(100 * probability).toFixed(0)} % likely); the other answers suggest ${state.classes[predicted]}`,
  })));
  list('uncertain-rows', state.uncertain.map(({ row, text }) => ({ row, text, why: 'your answer so far' })));
  at('no-doubts').hidden = state.doubts.length > 0;
  at('uncertain-head').hidden = state.uncertain.length === 0;
  at('ending').textContent = `When you finish, ${state.ending}.`;
}

function showRecent() {
  const list = at('recent');
  if (!at('review').open || list.contains(document.activeElement)) return;
  list.replaceChildren();
  for (const given of state.recent) {
    const line = element('li');
    const what = rowOf(given.row, given.text, 'your answer');
    if (given.corrected) what.classList.add('corrected');
    const choice = element('select');
    choice.setAttribute('aria-label', `label of row ${given.row}`);
    state.classes.forEach((name, index) => choice.append(new Option(name, index, false, index === given.class)));
    choice.addEventListener('change', async () => {
      const index = Number(choice.value);
      choice.blur();
      await settled();
      send('/api/change', { row: given.row, class: index });
    });
    line.append(what, choice);
    list.append(line);
  }
}

// Before the session ends, the person can look again at doubtful answers.
async function stop() {
  await settled();
  if (shown()) {
    looked = null;
    ending = true;
    redraw();
    return;
  }
  if (await send('/api/stop', {})) {
    over = true;
    at('guess').textContent = 'Finished.';
    at('sure').textContent = '';
    showMessage(`Stopped: ${state.ending}. You can close this page.`, true);
    document.querySelectorAll('button, select, input').forEach((control) => { control.disabled = true; });
  }
}

at('image').addEventListener('load', (event) => {
  event.target.classList.toggle('small', event.target.naturalWidth <= 96);
});
at('confirm').addEventListener('click', (event) => { event.target.blur(); if (looked) back(); else if (shown()) answer(state.question.class); });
for (const id of ['skip', 'uncertain']) {
  at(id).addEventListener('click', (event) => { event.target.blur(); if (shown() && !looked) send(`/api/${id}`, { row: state.question.row }); });
}
at('undo').addEventListener('click', (event) => { event.target.blur(); if (state.undo && !looked) { ending = false; send('/api/undo', state.undo, `Undone: ${state.undo_text}.`); } });
at('stop').addEventListener('click', (event) => { event.target.blur(); stop(); });
at('finish').addEventListener('click', stop);
at('continue').addEventListener('click', back);
at('review').addEventListener('toggle', () => { if (state) showRecent(); });
// After a click with the mouse, the focus is removed, so that Enter confirms the prediction; with the keyboard, it stays.
at('review').firstElementChild.addEventListener('click', (event) => { if (event.detail > 0) event.target.blur(); });

at('find').addEventListener('input', findClasses);
at('find').addEventListener('keydown', (event) => {
  if (event.key === 'Escape') leaveSearch();
  if (event.key !== 'Enter' || event.repeat || at('find').value.trim() === '') return;
  const found = findClasses();
  if (found.length === 1) {
    leaveSearch();
    answer(found[0]);
  } else {
    showMessage(`${found.length} classes have this text in their names; type more of the name.`);
  }
});

document.addEventListener('keydown', (event) => {
  // Holding a key down answers only once.
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || !state) return;
  const target = event.target;
  const key = event.key;
  if (target instanceof HTMLSelectElement || target instanceof HTMLInputElement) return;
  if (key === '/' && !at('find').hidden) {
    at('find').focus();
    event.preventDefault();
    return;
  }
  // Enter and Space activate a focused control, as usual.
  if ((key === 'Enter' || key === ' ') && (target instanceof HTMLButtonElement || target.tagName === 'SUMMARY')) return;
  const index = state.keys.indexOf(key.length === 1 ? key.toLowerCase() : key);
  const exact = state.keys.indexOf(key);
  if (key === 'Enter' || key === ' ') at('confirm').click();
  else if (exact >= 0) answer(exact);
  else if (key === 'Escape' && (looked || ending)) back();
  else if (key === '?') at('uncertain').click();
  else if (key === 's') at('skip').click();
  else if (key === 'u') at('undo').click();
  else if (index >= 0) answer(index);
  else return;
  event.preventDefault();
});

look();
