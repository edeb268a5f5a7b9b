//! `halfspaces label --web`: the page's server.

use crate::support::{
    self, Draws, Page, digits, digits_folder, good, labels_of_session, pool, refused,
};
use halfspaces_frame::Picture;
use serde_json::{Value, json};
use std::fs;
use std::io::{Read, Write};
use std::path::Path;
use std::time::Duration;

/// Number of times that a session is killed.
const KILLS: usize = 50;

const NEW: [&str; 5] = ["pool.csv", "--classes", "in,out", "--session", "s.jsonl"];

fn question(state: &Value) -> Option<(usize, usize)> {
    let question = state.get("question").filter(|question| !question.is_null())?;
    Some((question["row"].as_u64().unwrap() as usize, question["class"].as_u64().unwrap() as usize))
}

/// Writes 8 × 8 grey images; larger values are darker.
fn write_images(folder: &Path, values: &[u8]) {
    fs::create_dir_all(folder).unwrap();
    for (row, image) in values.chunks_exact(64).enumerate() {
        let file = fs::File::create(folder.join(format!("{row:04}.png"))).unwrap();
        let mut encoder = png::Encoder::new(file, 8, 8);
        encoder.set_color(png::ColorType::Grayscale);
        let mut writer = encoder.write_header().unwrap();
        let grey: Vec<u8> = image.iter().map(|value| 255 - value.saturating_mul(15)).collect();
        writer.write_image_data(&grey).unwrap();
    }
}

/// Labels all digits with ten classes. The features are in an NPY file, the images in PNG files, and the names of the
/// images in a CSV file.
#[test]
fn digits_are_labelled_through_the_page() {
    let folder = tempfile::tempdir().unwrap();
    let (truth, source) = (digits(), fs::read(digits_folder().join("digits.npy")).unwrap());
    let values = &source[source.len() - 64 * truth.len()..];
    write_images(&folder.path().join("images"), values);
    let mut items = String::from("file\n");
    (0..truth.len()).for_each(|row| items.push_str(&format!("images/{row:04}.png\n")));
    fs::write(folder.path().join("items.csv"), items).unwrap();
    let features = digits_folder().join("digits.npy");
    let args = [
        features.to_str().unwrap(),
        "--items",
        "items.csv",
        "--image",
        "file",
        "--classes",
        "0,1,2,3,4,5,6,7,8,9",
        "--session",
        "s.jsonl",
        "-o",
        "labels.csv",
    ];
    let page = Page::start(folder.path(), &args);
    let mut state = page.state();
    assert_eq!(state["keys"], json!(["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"]));
    let mut corrections = 0;
    while let Some((row, class)) = question(&state) {
        let answer: usize = truth[row].parse().unwrap();
        corrections += u64::from(answer != class);
        if row % 100 == 0 {
            let image = page.get(&format!("/api/image/{row}")).unwrap();
            assert!(
                image.head.contains("content-type: image/png") && image.head.contains("sandbox"),
                "{}",
                image.head
            );
            // If the pool is sorted, the next page on the same port has another image under the same path.
            assert!(image.head.contains("cache-control: no-store"), "{}", image.head);
            assert_eq!(
                image.body,
                fs::read(folder.path().join(format!("images/{row:04}.png"))).unwrap()
            );
        }
        let reply = page.post("/api/answer", &json!({ "row": row, "class": answer })).unwrap();
        assert_eq!(reply.status, 200);
        state = reply.json()["state"].clone();
        // Waits for the model, because on a busy machine answers would arrive faster than the model learns.
        while state["settled"] == false {
            std::thread::sleep(Duration::from_millis(5));
            state = page.state();
        }
    }
    assert_eq!(state["progress"]["answered"], 500);
    assert_eq!(state["progress"]["corrections"], corrections);
    // There are 32 corrections if the model learns from every answer before the next question; a random order needs 36
    // to 50.
    assert!(corrections <= 45, "{corrections}");
    page.stop();
    let labels = fs::read_to_string(folder.path().join("labels.csv")).unwrap();
    for (row, line) in labels.lines().skip(1).enumerate() {
        assert!(line.starts_with(&format!("{row},images/{row:04}.png,{},", truth[row])), "{line}");
    }
    assert_eq!(labels.lines().count(), 501);
}

/// Words are marked as evidence for or against the predicted class, a rare class is found early, and the page shows the
/// advice to stop.
#[test]
fn texts_are_labelled_through_the_page() {
    let folder = tempfile::tempdir().unwrap();
    let class = |row: usize| if row % 37 == 5 { "lost" } else { ["post", "bank"][row % 2] };
    let mut pool = String::from("said,id\n");
    for row in 0..220 {
        let word = match class(row) {
            "lost" => "umbrella",
            "post" => "parcel",
            _ => "refund",
        };
        pool.push_str(&format!(
            "about my {word} of day {} in <b>{}</b>,{row}\n",
            row % 13,
            7 * row
        ));
    }
    fs::write(folder.path().join("pool.csv"), pool).unwrap();
    let args = ["pool.csv", "--classes", "post,bank,lost", "--text", "said", "--show", "said"];
    let options = ["--id", "id", "--session", "s.jsonl", "--order", "rare"];
    let page = Page::start(folder.path(), &[&args[..], &options].concat());
    let mut state = page.state();
    let (mut marked, mut found, mut stops) = (0, Vec::new(), Vec::new());
    for answers in 0..220 {
        let (row, predicted) = question(&state).unwrap();
        if class(row) == "lost" {
            found.push(answers);
        }
        if let Some(advice) = state["stop_advice"].as_str() {
            assert!(advice.contains(" at most 5 % of all labels "), "{advice}");
            stops.push(answers);
        }
        let text = &state["question"]["item"]["texts"][0];
        let parts = text["parts"].as_array().unwrap();
        if !parts.is_empty() {
            let joined: String = parts.iter().map(|part| part[0].as_str().unwrap()).collect();
            assert_eq!(joined, text["value"].as_str().unwrap());
            let word = ["parcel", "refund", "umbrella"][predicted];
            let is_for =
                |part: &Value| part[0].as_str() == Some(word) && part[1].as_i64() == Some(3);
            marked += usize::from(parts.iter().any(is_for));
        }
        let answer = ["post", "bank", "lost"].iter().position(|name| *name == class(row));
        let reply = page.post("/api/answer", &json!({ "row": row, "class": answer })).unwrap();
        state = reply.json()["state"].clone();
        while state["settled"] == false {
            std::thread::sleep(Duration::from_millis(5));
            state = page.state();
        }
    }
    assert_eq!(question(&state), None);
    assert_eq!((found.len(), state["stop_advice"].is_null()), (6, true));
    assert!(found[5] < 70, "{found:?}");
    assert!(marked > 150, "{marked}");
    assert!(stops.len() > 50 && stops[0] > 20, "{stops:?}");
    page.stop();
}

/// A session that is killed [`KILLS`] times keeps every acknowledged answer exactly once.
#[test]
fn nothing_is_lost_when_it_is_killed() {
    let folder = tempfile::tempdir().unwrap();
    let truth = pool(folder.path(), 300);
    let session = folder.path().join("s.jsonl");
    let mut draws = Draws(5);
    let mut acknowledged: Vec<usize> = Vec::new();
    for life in 0..=KILLS {
        let page = Page::start(folder.path(), &NEW);
        let mut state = page.state();
        let mut left = if life < KILLS { 1 + draws.below(5) } else { usize::MAX };
        while let Some((row, _)) = question(&state) {
            assert!(!acknowledged.contains(&row), "row {row} is asked again");
            let answer = json!({ "row": row, "class": usize::from(truth[row] == "out") });
            left -= 1;
            if left == 0 {
                let mut page = page;
                let wait = Duration::from_micros(draws.below(6000) as u64);
                // Sends the answer and kills the program at the same time.
                let replied = std::thread::scope(|scope| {
                    let sent = scope.spawn(|| {
                        let stub = Page {
                            child: std::process::Command::new("true").spawn().unwrap(),
                            port: page.port,
                            token: page.token.clone(),
                        };
                        stub.post("/api/answer", &answer).is_ok_and(|reply| reply.status == 200)
                    });
                    std::thread::sleep(wait);
                    page.child.kill().unwrap();
                    sent.join().unwrap()
                });
                page.child.wait().unwrap();
                let text = fs::read_to_string(&session).unwrap();
                let kept = text.lines().any(|line| {
                    line.contains(&format!("\"answer\",\"row\":{row},")) && line.ends_with('}')
                });
                assert!(kept || !replied, "an answer that was acknowledged is lost");
                acknowledged.extend(kept.then_some(row));
                break;
            }
            let reply = page.post("/api/answer", &answer).unwrap();
            acknowledged.push(row);
            // Sends the answer again, as if the reply had been lost. Nothing changes.
            let again = page.post("/api/answer", &answer).unwrap();
            assert_eq!((reply.status, again.status), (200, 200));
            assert_eq!(again.json()["state"]["progress"]["answered"], acknowledged.len());
            state = again.json()["state"].clone();
        }
    }
    let labels = labels_of_session(&session);
    assert!(labels.iter().all(|(row, class)| class == truth[*row]) && labels.len() == 300);
}

#[test]
fn strangers_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    pool(folder.path(), 10);
    let page = Page::start(folder.path(), &NEW);
    let own = format!("http://127.0.0.1:{}", page.port);
    let (json_type, bearer) =
        (("Content-Type", "application/json"), format!("Bearer {}", page.token));
    let bearer = ("Authorization", bearer.as_str());
    let answer = json!({ "row": question(&page.state()).unwrap().0, "class": 0 }).to_string();
    let send = |method: &str, path: &str, headers: &[(&str, &str)]| {
        page.send(method, path, headers, if method == "POST" { &answer } else { "" }).unwrap()
    };
    let wrong = format!("/?token={}", "0".repeat(page.token.len()));
    for path in ["/", "/?token=", &wrong, "/page.js", "/api/state", "/api/image/0"] {
        let reply = send("GET", path, &[]);
        assert_eq!(reply.status, 401, "{path}");
        assert!(!String::from_utf8_lossy(&reply.body).contains(&page.token));
    }
    // Cookies would be sent to every other port of this machine, so the page sets none and accepts none.
    let cookie = format!("halfspaces-label-{}={}", page.port, page.token);
    assert_eq!(send("GET", "/api/state", &[("Cookie", &cookie)]).status, 401);
    for file in ["/", "/page.js", "/page.css"] {
        let reply = send("GET", &format!("{file}?token={}", page.token), &[]);
        assert!(reply.status == 200 && !reply.head.contains("set-cookie"), "{}", reply.head);
    }
    assert_eq!(send("GET", &format!("/api/state?token={}", page.token), &[]).status, 401);
    let shown = send("GET", &format!("/?token={}", page.token), &[]);
    let html = String::from_utf8(shown.body).unwrap();
    assert!(html.contains(&format!("content=\"{}\"", page.token)) && !html.contains("{token}"));
    let policy =
        shown.head.lines().find(|line| line.starts_with("content-security-policy")).unwrap();
    assert!(
        policy.contains("default-src 'none'")
            && !policy.contains("unsafe")
            && !policy.contains("http"),
        "{policy}"
    );
    for (headers, status) in [
        (vec![("Cookie", cookie.as_str()), json_type, ("Origin", &own)], 401),
        (vec![bearer, json_type, ("Origin", "http://evil.example")], 403),
        (vec![bearer, json_type, ("Origin", "null")], 403),
        (vec![bearer, json_type, ("Origin", &own), ("Host", "evil.example")], 421),
        (vec![bearer, json_type, ("Origin", &own), ("Sec-Fetch-Site", "cross-site")], 403),
        (vec![bearer, ("Content-Type", "text/plain"), ("Origin", &own)], 415),
        (vec![json_type, ("Origin", &own)], 401),
    ] {
        assert_eq!(send("POST", "/api/answer", &headers).status, status, "{headers:?}");
    }
    assert_eq!(page.state()["progress"]["answered"], 0, "none of these requests had an effect");
    assert_eq!(send("DELETE", "/api/state", &[bearer, json_type, ("Origin", &own)]).status, 405);
    assert_eq!(send("GET", "/../../etc/hostname", &[bearer]).status, 404);
    assert_eq!(send("GET", "/api/image/../state", &[bearer]).status, 404);
    assert_eq!(send("POST", "/api/answer", &[bearer, json_type, ("Origin", &own)]).status, 200);
    for (path, body, status) in [
        ("/api/answer", json!({ "row": 0 }), 409),
        ("/api/answer", json!({ "row": 99, "class": 0 }), 409),
        ("/api/answer", json!({ "row": 0, "class": 7 }), 409),
        ("/api/skip", json!({ "row": 99 }), 409),
        ("/api/change", json!({ "row": 99, "class": 0 }), 409),
        ("/api/none", json!({}), 404),
        ("/api/answer", json!({ "row": "x".repeat(5000) }), 400),
    ] {
        let reply = page.post(path, &body).unwrap();
        assert_eq!(reply.status, status, "{path} {body}");
        assert!(reply.json()["error"].as_str().is_some_and(|why| !why.is_empty()));
    }
    assert_eq!(page.state()["progress"]["answered"], 1);
    page.stop();
}

/// The text of items reaches the page as JSON, and the script of the page never parses text as HTML.
#[test]
fn text_is_never_html() {
    let folder = tempfile::tempdir().unwrap();
    let evil = "<img src=x onerror=alert(1)><script>alert(2)</script>";
    let mut text = String::from("x,body\n");
    (0..10).for_each(|row| text.push_str(&format!("{row},{evil} {row}\n")));
    fs::write(folder.path().join("pool.csv"), text).unwrap();
    let args = [&NEW[..], &["--show", "body"]].concat();
    let page = Page::start(folder.path(), &args);
    let state = page.get("/api/state").unwrap();
    assert!(
        state.head.contains("content-type: application/json") && state.head.contains("nosniff")
    );
    let shown = &state.json()["state"]["question"]["item"]["texts"][0];
    assert!(shown["value"].as_str().unwrap().starts_with(evil) && shown["name"] == "body");
    let (html, script) = (page.get("/").unwrap(), page.get("/page.js").unwrap());
    let (html, script) =
        (String::from_utf8(html.body).unwrap(), String::from_utf8(script.body).unwrap());
    for word in [
        "innerHTML",
        "outerHTML",
        "insertAdjacentHTML",
        "document.write",
        "eval(",
        "createContextualFragment",
    ] {
        assert!(!script.contains(word), "{word}");
    }
    assert!(!html.contains("onclick") && !html.contains("<style") && !html.contains("http"));
    assert_eq!(html.matches("<script").count(), 1, "{html}");
    page.stop();
}

/// A folder of images with a sub-folder for each class is a table for every command; files are found by their names.
#[test]
fn folders_of_images_are_tables() {
    let folder = tempfile::tempdir().unwrap();
    let truth: Vec<usize> = digits().iter().map(|digit| digit.parse().unwrap()).collect();
    let source = fs::read(digits_folder().join("digits.npy")).unwrap();
    write_images(&folder.path().join("flat"), &source[source.len() - 64 * truth.len()..]);
    let at = |name: &str| folder.path().join(name);
    for (row, class) in truth.iter().enumerate() {
        // Every fifth image is for the test; one label is wrong.
        let part = if row % 5 == 0 { "test" } else { "train" };
        let class = if row == 1 { (class + 1) % 10 } else { *class };
        let target = at(&format!("{part}/{class}"));
        fs::create_dir_all(&target).unwrap();
        fs::copy(at(&format!("flat/{row:04}.png")), target.join(format!("{row}.png"))).unwrap();
    }
    good(folder.path(), &["fit", "train", "--label", "label", "-o", "m.json"]);
    let said = good(folder.path(), &["evaluate", "m.json", "test", "--json"]);
    let error = serde_json::from_str::<Value>(&said).unwrap()["error"]["rate"].as_f64().unwrap();
    assert!(error < 0.15, "{error}");
    good(folder.path(), &["predict", "m.json", "flat", "--keep", "file", "-o", "p.csv"]);
    let predicted = fs::read_to_string(at("p.csv")).unwrap();
    assert_eq!(predicted.lines().count(), truth.len() + 1);
    assert!(predicted.contains("0007.png"), "{predicted}");
    let audit = ["audit", "train", "--label", "label", "--html", "r.html", "--top", "5"];
    let said = good(folder.path(), &audit);
    let wrong = format!("train/{}/1.png", (truth[1] + 1) % 10);
    assert!(said.contains(&wrong), "{said}");
    let html = fs::read_to_string(at("r.html")).unwrap();
    assert_eq!(html.matches("<img src=\"data:image/png;base64,").count(), 5);
    // So does the report on a folder whose labels are in a file.
    let row = |(row, class): (usize, &usize)| format!("{row:04}.png,{class}\n");
    let labels: String = truth.iter().enumerate().map(row).collect();
    fs::write(at("labels.csv"), format!("file,label\n{labels}")).unwrap();
    good(
        folder.path(),
        &["audit", "flat", "--labels", "labels.csv", "--html", "l.html", "--top", "4"],
    );
    let html = fs::read_to_string(at("l.html")).unwrap();
    assert_eq!(html.matches("<img src=\"data:image/png;base64,").count(), 4);
    // The report on a table with a column of image names shows the images as well.
    let mut table = String::from("a,b,c,d,e,f,g,h,photo,y\n");
    for (row, class) in truth.iter().enumerate() {
        table.push_str(&format!(
            "{}flat/{row:04}.png,{}\n",
            format!("{class},").repeat(8),
            class % 2
        ));
    }
    fs::write(at("photos.csv"), table).unwrap();
    let audit = ["audit", "photos.csv", "--label", "y", "--html", "p.html", "--top", "3"];
    let audit = [&audit[..], &["--learner", "logistic"]].concat();
    let audited = support::run(folder.path(), &audit);
    let said = String::from_utf8(audited.stderr).unwrap();
    assert!(said.contains("note: column `photo`: the report shows the images"), "{said}");
    let html = fs::read_to_string(at("p.html")).unwrap();
    assert_eq!(html.matches("<img src=\"data:image/png;base64,").count(), 3);
    // So does the page on which the labels are reviewed.
    let review = ["audit", "photos.csv", "--label", "y", "--learner", "logistic", "--web", "v.csv"];
    let page = Page::of(folder.path(), &review);
    let state = page.state();
    let (row, _) = question(&state).unwrap();
    assert!(state["question"]["item"]["image"] == true && state["suggested"] == true, "{state}");
    let image = page.get(&format!("/api/image/{row}")).unwrap();
    assert_eq!(image.body, fs::read(at(&format!("flat/{row:04}.png"))).unwrap());
    page.stop();
    assert!(!at("v.csv").exists(), "no label was reviewed");
    let page = Page::of(folder.path(), &review);
    let known = &state["question"]["known"];
    page.post("/api/answer", &json!({ "row": row, "class": known })).unwrap();
    page.stop();
    assert_eq!(fs::read_to_string(at("v.csv")).unwrap().lines().count(), truth.len() + 1);
    let refusal = refused(folder.path(), &["audit", "train", "--label", "label", "--web", "c.csv"]);
    assert!(refusal.contains("a folder of images, not a table"), "{refusal}");
    // The page shows the images of the folder, large and small.
    let start = ["flat", "--classes", "0,1,2,3,4,5,6,7,8,9", "--session", "s.jsonl"];
    let page = Page::start(folder.path(), &start);
    let state = page.state();
    let (row, _) = question(&state).unwrap();
    assert!(state["images"] == true && state["question"]["item"]["image"] == true);
    let image = page.get(&format!("/api/image/{row}")).unwrap();
    assert_eq!(image.body, fs::read(at(&format!("flat/{row:04}.png"))).unwrap());
    let small = page.get(&format!("/api/thumbnail/{row}")).unwrap();
    assert!(small.status == 200 && small.body.starts_with(b"\x89PNG"));
    page.post("/api/answer", &json!({ "row": row, "class": truth[row] })).unwrap();
    assert_eq!(page.state()["recent"][0]["text"], format!("{row:04}.png"));
    page.stop();
    // A session on sub-folders takes their names as known labels only if an option requests it.
    let known = ["label", "train", "--known", "label", "--export", "-o", "l.csv", "--session"];
    good(folder.path(), &[&known[..], &["t.jsonl"]].concat());
    let labels = fs::read_to_string(at("l.csv")).unwrap();
    assert!(labels.starts_with("row,file,label,source,probability\n0,0/"), "{labels}");
    // A sub-folder is a class, whatever its name.
    fs::rename(at("train/3"), at("train/NA")).unwrap();
    let known = ["label", "train", "--known", "label", "--export", "-o", "n.csv", "--session"];
    good(folder.path(), &[&known[..], &["n.jsonl"]].concat());
    let renamed = fs::read_to_string(at("n.csv")).unwrap();
    assert_eq!(renamed.lines().count(), labels.lines().count());
    assert!(renamed.contains(",NA,known,"), "{renamed}");
    // Labels belong to files: a new image, which moves all rows, does not move the labels.
    let mut labels = String::from("row,file,label\n");
    for (row, class) in truth.iter().enumerate() {
        labels.push_str(&format!("{row},{row:04}.png,{class}\n"));
    }
    fs::write(at("labels.csv"), labels).unwrap();
    fs::copy(at("flat/0003.png"), at("flat/0000-new.png")).unwrap();
    let fit = ["fit", "flat", "--labels", "labels.csv", "--holdout", "0", "-o", "j.json"];
    let said = good(folder.path(), &[&fit[..], &["--json"]].concat());
    let fitted: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(fitted["rows"].as_u64(), Some(truth.len() as u64));
    let error = fitted["cross_validated_error"].as_f64().unwrap();
    assert!(error < 0.2, "{error}");
}

#[test]
fn undo_skip_and_change_on_the_page() {
    let folder = tempfile::tempdir().unwrap();
    pool(folder.path(), 12);
    let page = Page::start(folder.path(), &NEW);
    let do_it = |path: &str, body: Value| page.post(path, &body).unwrap().json()["state"].clone();
    let (first, _) = question(&page.state()).unwrap();
    let state = do_it("/api/answer", json!({ "row": first, "class": 1 }));
    let (second, _) = question(&state).unwrap();
    assert!(state["can_undo"] == true && state["recent"][0]["row"] == first);
    let state = do_it("/api/skip", json!({ "row": second }));
    assert_eq!(state["progress"]["skipped"], 1);
    assert_ne!(question(&state).unwrap().0, second);
    let undo = state["undo"].clone();
    assert_eq!(undo["row"], second);
    assert_eq!(state["undo_text"], format!("the skip of row {second}"));
    // The request names the action, so that a repeated request undoes only one answer.
    assert_eq!(page.post("/api/undo", &json!({})).unwrap().status, 409);
    assert_eq!(page.post("/api/undo", &json!({ "row": first })).unwrap().status, 409);
    assert_eq!(question(&do_it("/api/undo", undo.clone())).unwrap().0, second);
    assert_eq!(page.post("/api/undo", &undo).unwrap().status, 409);
    let state = do_it("/api/undo", json!({ "row": first }));
    assert_eq!(
        (question(&state).unwrap().0, state["progress"]["answered"].as_u64()),
        (first, Some(0))
    );
    assert_eq!(page.post("/api/undo", &json!({ "row": first })).unwrap().status, 409);
    do_it("/api/answer", json!({ "row": first, "class": 1 }));
    let state = do_it("/api/change", json!({ "row": first, "class": 0 }));
    assert_eq!(state["recent"][0]["class"], 0);
    assert_eq!(state["undo_text"], format!("the answer `in` about row {first}"));
    assert_eq!(state["curve"].as_array().unwrap().len(), 2);
    page.stop();
    let text = fs::read_to_string(folder.path().join("s.jsonl")).unwrap();
    assert!(text.lines().last().unwrap().contains("\"change\""));
    // The next run has the changed answer.
    let page = Page::start(folder.path(), &NEW);
    assert_eq!(page.state()["recent"][0]["class"], 0);
    page.stop();
}

/// Wrong and uncertain answers are listed for a second look, until they are corrected.
#[test]
fn doubtful_answers_are_looked_at_again() {
    let folder = tempfile::tempdir().unwrap();
    let truth = pool(folder.path(), 60);
    let class = |row: usize| usize::from(truth[row] == "out");
    let page = Page::start(folder.path(), &NEW);
    let post = |path: &str, body: Value| page.post(path, &body).unwrap().json()["state"].clone();
    let mut state = page.state();
    let mut answered = Vec::new();
    while let Some((row, _)) = question(&state) {
        state = match answered.len() {
            5 => post("/api/uncertain", json!({ "row": row })),
            30 => post("/api/answer", json!({ "row": row, "class": 1 - class(row) })),
            _ => post("/api/answer", json!({ "row": row, "class": class(row) })),
        };
        answered.push(row);
    }
    let (uncertain, wrong) = (answered[5], answered[30]);
    assert_eq!((answered.len(), &state["progress"]["answered"]), (60, &json!(59)));
    let settled = || loop {
        let state = page.state();
        if state["settled"] == true {
            return state;
        }
    };
    let state = settled();
    assert_eq!(state["uncertain"].as_array().unwrap().len(), 1);
    assert_eq!(state["uncertain"][0]["row"], uncertain);
    let doubt = &state["doubts"][0];
    assert_eq!((&doubt["row"], &doubt["class"]), (&json!(wrong), &json!(1 - class(wrong))));
    assert_eq!(doubt["predicted"], class(wrong));
    assert!(doubt["probability"].as_f64().unwrap() < 0.2, "{doubt}");
    let item = |row: usize| page.get(&format!("/api/item/{row}")).unwrap();
    assert_eq!(item(wrong).json()["class"], 1 - class(wrong));
    assert_eq!(item(uncertain).json()["class"], Value::Null);
    assert_eq!(item(uncertain).json()["item"]["features"][0]["name"], "x");
    assert_eq!(item(60).status, 404);
    for row in [wrong, uncertain] {
        post("/api/change", json!({ "row": row, "class": class(row) }));
    }
    let state = settled();
    assert_eq!(state["progress"]["answered"], 60);
    assert_eq!(state["uncertain"], json!([]));
    let doubts = state["doubts"].as_array().unwrap();
    assert!(doubts.iter().all(|doubt| doubt["row"] != wrong), "{doubts:?}");
    assert!(state["ending"].as_str().unwrap().contains("--export -o labels.csv"));
    page.stop();
}

/// A request whose body never arrives times out after a few seconds.
#[test]
fn a_missing_body_times_out() {
    let folder = tempfile::tempdir().unwrap();
    pool(folder.path(), 3);
    let page = Page::start(folder.path(), &NEW);
    let mut stream = std::net::TcpStream::connect(("127.0.0.1", page.port)).unwrap();
    let (port, token) = (page.port, &page.token);
    write!(
        stream,
        "POST /api/answer HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {token}\r\n\
         Content-Type: application/json\r\nContent-Length: 10\r\n\r\n{{"
    )
    .unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let mut reply = [0; 12];
    stream.read_exact(&mut reply).unwrap();
    assert_eq!(&reply, b"HTTP/1.1 408");
    page.stop();
}

/// Image paths that lead out of the folder, by `..` or by a link, are refused at the start.
/// The two classes have the same grey values and differ only in colour.
#[test]
fn colours_of_images_are_features() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: String, colour: [u8; 3]| {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let picture = Picture::new(4, 4, colour.repeat(16));
        fs::write(path, picture.thumbnail(4).unwrap()).unwrap();
    };
    for number in 0..40_u8 {
        // The grey values of both classes are between 29 and 42.
        write(format!("all/red/{number}.png"), [100 + number, 0, 0]);
        write(format!("all/green/{number}.png"), [0, 51 + number / 2, 0]);
        write(format!("grey/{number}.png"), [100 + number; 3]);
    }
    let fit = ["fit", "all", "--label", "label", "--learner", "logistic", "-o", "m.json"];
    good(folder.path(), &fit);
    let said = good(folder.path(), &["evaluate", "m.json", "all", "--json"]);
    let error = &serde_json::from_str::<Value>(&said).unwrap()["error"]["rate"];
    assert_eq!(error.as_f64(), Some(0.0));
    // Images without colours have the columns of the model as well.
    let predicted = good(folder.path(), &["predict", "m.json", "grey"]);
    assert_eq!(predicted.lines().count(), 41, "{predicted}");
}

#[test]
fn images_stay_in_their_folder() {
    let folder = tempfile::tempdir().unwrap();
    pool(folder.path(), 2);
    let items = folder.path().join("items");
    fs::create_dir(&items).unwrap();
    fs::write(folder.path().join("secret.png"), "secret").unwrap();
    fs::write(items.join("a.png"), "a").unwrap();
    for name in ["../secret.png", "/etc/hostname.png", "link.png"] {
        #[cfg(unix)]
        if name == "link.png" {
            std::os::unix::fs::symlink(folder.path().join("secret.png"), items.join(name)).unwrap();
        }
        fs::write(items.join("items.csv"), format!("file\na.png\n{name}\n")).unwrap();
        let args =
            [&["label"], &NEW[..], &["--items", "items/items.csv", "--image", "file", "--web"]]
                .concat();
        let said = refused(folder.path(), &args);
        assert!(said.contains("line 3, column `file`: ") && said.contains(name), "{said}");
        assert!(!folder.path().join("s.jsonl").exists());
    }
}

/// `audit --web` asks about the contradicted labels and writes the corrected table. If it was stopped early, the same
/// command continues.
#[test]
fn contradicted_labels_are_corrected_through_the_page() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let class = |i: usize| if i % 20 >= 10 { "high" } else { "low" };
    let mut text = "x,y,class\n".to_owned();
    let label = |i: usize| if i % 40 == 7 { "high" } else { class(i) };
    for i in 0..200 {
        let label = label(i);
        text.push_str(&format!("{},{},{label}\n", i % 20, (i * 7) % 13));
    }
    fs::write(folder.join("t.csv"), &text).unwrap();
    let args = ["audit", "t.csv", "--label", "class", "--web", "clean.csv"];
    let wrong = || {
        let clean = fs::read_to_string(folder.join("clean.csv")).unwrap();
        let lines = clean.lines().skip(1).map(|line| line.rsplit(',').next().unwrap().to_owned());
        lines.enumerate().filter(|(i, label)| label != class(*i)).count()
    };
    let (mut asked, mut changed) = (0, 0);
    for (most, args) in [(2, &args[..]), (usize::MAX, &[&args[..], &["--force"]].concat())] {
        let page = Page::of(folder, args);
        let mut state = page.state();
        for _ in 0..most {
            let Some((row, _)) = question(&state) else { break };
            // The page shows the known label, and counts the reviewed rows and the changed labels.
            let known = state["question"]["known"].as_u64().unwrap() as usize;
            assert_eq!(state["classes"][known], label(row));
            assert_eq!(state["review"]["reviewed"], asked);
            assert_eq!(state["review"]["changed"], changed);
            changed += usize::from(label(row) != class(row));
            let answer = usize::from(state["classes"][1] == class(row));
            let reply = page.post("/api/answer", &json!({ "row": row, "class": answer })).unwrap();
            state = reply.json()["state"].clone();
            asked += 1;
        }
        page.stop();
        assert!(folder.join("clean.csv.session.jsonl").exists());
        if most == 2 {
            assert!(wrong() > 0, "two answers do not find five labels");
        }
    }
    assert!(wrong() == 0 && (5..20).contains(&asked), "{} {asked}", wrong());
    assert_eq!(changed, 5);
    // In a clean table, there is nothing to review.
    fs::rename(folder.join("clean.csv"), folder.join("right.csv")).unwrap();
    let args = ["audit", "right.csv", "--label", "class", "--web", "again.csv"];
    crate::support::good(folder, &args);
    assert!(!folder.join("again.csv").exists());
    let args = ["audit", "-", "--label", "class", "--web", "again.csv"];
    assert!(refused(folder, &args).contains("cannot be read more than once"));
}
