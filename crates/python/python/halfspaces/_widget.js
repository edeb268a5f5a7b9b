// The labelling widget of a notebook. It shows the trait `state` and sends one message for each action.

function element(tag, name, text) {
  const made = document.createElement(tag);
  if (name) made.className = name;
  if (text !== undefined) made.textContent = text;
  return made;
}

function shown(item, row) {
  if (item && item.kind === "image") {
    const image = element("img", "hs-image");
    image.src = item.url;
    image.alt = `The image of row ${row}`;
    return image;
  }
  if (item && item.kind === "text") return element("div", "hs-text", item.text);
  if (item && item.kind === "table") {
    const table = element("div", "hs-table");
    for (const [name, value] of item.cells) {
      const cell = element("div", "hs-cell");
      cell.append(element("span", "hs-name", name), element("span", "hs-value", value));
      table.append(cell);
    }
    if (item.more) table.append(element("div", "hs-cell hs-name", `and ${item.more} more`));
    return table;
  }
  return element("div", "hs-text", `Row ${row}`);
}

function counted(count, name) {
  return `${count} ${name}${count === 1 ? "" : "s"}`;
}

function render({ model, el }) {
  const root = element("div", "hs-label");
  root.tabIndex = 0;
  root.setAttribute("role", "group");
  root.setAttribute("aria-label", "Labelling");
  el.append(root);
  let waiting = false;

  function send(message) {
    if (waiting) return;
    waiting = true;
    model.send(message);
  }

  function answer(number) {
    const { question } = model.get("state");
    if (question) send({ do: "answer", row: question.row, class: number });
  }

  function act(action) {
    const { question } = model.get("state");
    if (action === "undo") send({ do: "undo" });
    else if (question) send({ do: action, row: question.row });
  }

  function button(name, key, text, onClick) {
    const made = element("button", name);
    made.type = "button";
    made.append(element("span", "hs-class", text));
    if (key && key !== text) made.append(element("kbd", "hs-key", key));
    made.addEventListener("click", onClick);
    return made;
  }

  function draw() {
    waiting = false;
    const state = model.get("state");
    const { question, classes, keys } = state;
    const hadFocus = root.contains(document.activeElement);
    const parts = [];
    if (state.title) parts.push(element("div", "hs-title", state.title));
    if (question) {
      parts.push(shown(state.item, question.row));
      const sure =
        question.probability === null
          ? "a guess: not every class has a label yet"
          : `${Math.round(100 * question.probability)} % sure`;
      const line = element("div", "hs-predicted");
      line.append(element("span", "hs-row", `row ${question.row}`), element("strong", "", classes[question.class]), `? ${sure}`);
      if (question.skipped) line.append(", skipped before");
      line.setAttribute("aria-live", "polite");
      parts.push(line);
      const buttons = element("div", "hs-classes");
      classes.forEach((name, number) => {
        const isPredicted = number === question.class;
        const made = button(isPredicted ? "hs-button hs-is-predicted" : "hs-button", keys[number], name, () =>
          answer(number),
        );
        if (isPredicted) made.append(element("kbd", "hs-key", "Enter"));
        buttons.append(made);
      });
      parts.push(buttons);
    } else {
      parts.push(element("div", "hs-predicted", "Every row has an answer."));
    }
    const others = element("div", "hs-others");
    if (question) {
      others.append(
        button("hs-button hs-quiet", "s", "Skip", () => act("skip")),
        button("hs-button hs-quiet", "?", "Cannot tell", () => act("uncertain")),
      );
    }
    others.append(button("hs-button hs-quiet", "u", "Undo", () => act("undo")));
    parts.push(others);
    const bar = element("div", "hs-bar");
    const done = element("div", "hs-done");
    done.style.width = `${(100 * state.labelled) / Math.max(1, state.rows)}%`;
    bar.append(done);
    const [expected, low, high] = state.expected.map(Math.round);
    const toCome = question ? `; about ${counted(expected, "more correction")} to come (${low} to ${high})` : "";
    const corrections = counted(state.corrections, "correction");
    const uncertain = state.uncertain ? `, ${state.uncertain} uncertain` : "";
    const text = `${state.labelled} of ${state.rows} labelled${uncertain}, ${corrections}${toCome}`;
    parts.push(bar, element("div", "hs-progress", text));
    if (state.can_stop) {
      parts.push(
        element("div", "hs-note", "The model expects to correct at most 5 % of all labels if you go on; if you stop now, more may be wrong."),
      );
    }
    if (state.error) {
      const error = element("div", "hs-error", state.error);
      error.setAttribute("role", "alert");
      parts.push(error);
    }
    root.replaceChildren(...parts);
    if (hadFocus) root.focus({ preventScroll: true });
  }

  root.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { question, keys } = model.get("state");
    const { key } = event;
    // A capital letter is the key of the class with this name, or stands for the small one.
    const number = keys.includes(key) ? keys.indexOf(key) : keys.indexOf(key.toLowerCase());
    if (event.repeat && (number >= 0 || ["Enter", "s", "?", "u"].includes(key))) {
      // Holding a key down answers only once, and does not press a button again.
    } else if (key === "Enter") {
      // Enter on a button presses that button.
      if (event.target !== root || !question) return;
      answer(question.class);
    } else if (key === "s") act("skip");
    else if (key === "?") act("uncertain");
    else if (key === "u") act("undo");
    else if (number >= 0) answer(number);
    else {
      // A key without a meaning here must not cut the cell. Escape goes back to the notebook.
      if (key !== "Escape") event.stopPropagation();
      return;
    }
    // The notebook has shortcuts of its own.
    event.preventDefault();
    event.stopPropagation();
  });

  model.on("change:state", draw);
  draw();
  return () => model.off("change:state", draw);
}

export default { render };
