//! Reports as self-contained HTML files.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use halfspaces_frame::Picture;
use halfspaces_pipeline::TextParts;
use std::ops::Range;
use std::path::Path;

/// Maximum width and height of an image in a report, in pixels.
const THUMBNAIL: usize = 96;

/// Escapes text for HTML, in elements and in attribute values.
pub(crate) fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
        .replace('\'', "&#39;")
}

/// An HTML table. The header is escaped; cells are HTML.
pub(crate) fn table_of_html(
    header: &[&str],
    rows: impl IntoIterator<Item = Vec<String>>,
) -> String {
    let cells = |tag: &str, cells: &mut dyn Iterator<Item = String>| {
        let cells: String = cells.map(|cell| format!("<{tag}>{cell}</{tag}>")).collect();
        format!("<tr>{cells}</tr>\n")
    };
    let head = cells("th", &mut header.iter().map(|name| escape(name)));
    let body: String = rows.into_iter().map(|row| cells("td", &mut row.into_iter())).collect();
    format!(
        "<div class=\"wide\"><table><thead>{head}</thead><tbody>\n{body}</tbody></table></div>\n"
    )
}

/// An HTML table. Cells are escaped.
pub(crate) fn table(header: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let escaped = |cells: Vec<String>| cells.iter().map(|cell| escape(cell)).collect();
    table_of_html(header, rows.into_iter().map(escaped))
}

/// A table of names and texts without a header. Cells are escaped.
pub(crate) fn facts(rows: impl IntoIterator<Item = (String, String)>) -> String {
    let row = |(name, text): (String, String)| {
        format!("<tr><th>{}</th><td>{}</td></tr>\n", escape(&name), escape(&text))
    };
    let rows: String = rows.into_iter().map(row).collect();
    format!("<table class=\"facts\"><tbody>\n{rows}</tbody></table>\n")
}

/// The level of each part of a text, from -3 to 3: three times the evidence of the part, divided by the largest
/// absolute evidence of any part, then rounded. Blanks have level 0.
pub(crate) fn levels(text: &TextParts) -> Vec<i8> {
    let largest = text.parts.iter().map(|(_, part)| part.abs()).fold(f64::MIN_POSITIVE, f64::max);
    let level = |(range, part): &(Range<usize>, f64)| {
        let is_blank = text.text[range.clone()].trim().is_empty();
        if is_blank { 0 } else { (3.0 * part / largest).round() as i8 }
    };
    text.parts.iter().map(level).collect()
}

/// A text with marked parts: evidence against the label is red, evidence for it is green, and stronger evidence is
/// darker. Parts that begin after the first `most` characters are not shown.
pub(crate) fn marked(text: &TextParts, most: usize) -> String {
    let mut html = String::new();
    let mut shown = 0;
    for ((range, _), level) in text.parts.iter().zip(levels(text)) {
        let word = &text.text[range.clone()];
        if shown >= most {
            html.push('…');
            break;
        }
        shown += word.chars().count();
        let (word, size) = (escape(word), level.abs());
        match level.signum() {
            0 => html.push_str(&word),
            1 => html.push_str(&format!("<mark class=\"yes{size}\">{word}</mark>")),
            _ => html.push_str(&format!("<mark class=\"no{size}\">{word}</mark>")),
        }
    }
    html
}

/// A cell with the name of an image and, if the image can be read, a small version of it.
pub(crate) fn image_cell(path: &Path, name: &str) -> String {
    let bytes = std::fs::read(path).map_err(|error| error.to_string());
    let picture = bytes.and_then(|bytes| Picture::decode(&bytes));
    match picture.and_then(|picture| picture.thumbnail(THUMBNAIL)) {
        Ok(small) => format!(
            "<img src=\"data:image/png;base64,{}\" alt=\"\"> {}",
            STANDARD.encode(small),
            escape(name)
        ),
        Err(_) => escape(name),
    }
}

/// A complete page. The title is escaped; the body is HTML.
pub(crate) fn page(title: &str, body: &str) -> String {
    let title = escape(title);
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:\">\n\
         <title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n<h1>{title}</h1>\n{body}</main>\n</body>\n</html>\n"
    )
}

const STYLE: &str = "
:root{--paper:#fbfbf9;--ink:#1d2125;--soft:#5c646d;--line:#d9dcdf}
@media (prefers-color-scheme:dark){:root{--paper:#15181b;--ink:#e8eaec;--soft:#a3abb3;--line:#383e44}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.5 system-ui,sans-serif}
main{max-width:64rem;margin:0 auto;padding:1.5rem 1rem 4rem}
h1{font-size:1.5rem;overflow-wrap:anywhere}
h2{font-size:1.15rem;margin-top:2rem}
p,figcaption{max-width:46rem}
figcaption,th{color:var(--soft);font-size:.9rem}
.wide{overflow-x:auto;margin:.8rem 0}
mark{color:inherit;border-radius:.2em;background:none}
.no1{background:rgb(220 60 40/.15)}.no2{background:rgb(220 60 40/.35)}.no3{background:rgb(220 60 40/.6)}
.yes1{background:rgb(40 150 70/.15)}.yes2{background:rgb(40 150 70/.35)}.yes3{background:rgb(40 150 70/.6)}
table{border-collapse:collapse;font-size:.9rem;font-variant-numeric:tabular-nums}
th,td{text-align:left;padding:.3rem .7rem;border-bottom:1px solid var(--line);vertical-align:top}
td{overflow-wrap:break-word;max-width:28rem}
td:nth-child(-n+5){white-space:nowrap}
.facts td{white-space:normal;overflow-wrap:anywhere}
.filter label{white-space:nowrap;margin-right:.8em}
.bar{display:inline-block;height:.8em;background:rgb(40 150 70/.6)}
.less{background:rgb(220 60 40/.6)}
td img{height:3rem;min-width:3rem;object-fit:contain;vertical-align:middle;image-rendering:pixelated}
figure{margin:1.2rem 0}
figure svg{display:block;max-width:100%;height:auto}
figure .hf .paper{fill:none}
figcaption{margin-top:.5rem}
pre{overflow-x:auto;font-size:.85rem}
.pair{display:flex;flex-wrap:wrap;gap:1rem}
@media (max-width:30rem){th,td{padding:.3rem .4rem}}
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_escaped() {
        let text = "<script>alert('x')</script> & \"y\"";
        let page = page(text, &table(&[text], [vec![text.to_owned()]]));
        assert!(!page.contains("<script") && !page.contains("'x'"));
        assert_eq!(
            page.matches("&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt; &amp; &quot;y&quot;")
                .count(),
            4
        );
    }
    /// An image is embedded in the page. If a file is not an image, only its name is shown.
    #[test]
    fn images_are_shown_small() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.png");
        let picture = Picture::new(200, 100, vec![7; 60_000]);
        std::fs::write(&path, picture.thumbnail(200).unwrap()).unwrap();
        let cell = image_cell(&path, "<a>");
        let start = "<img src=\"data:image/png;base64,";
        let text =
            cell.strip_prefix(start).unwrap().strip_suffix("\" alt=\"\"> &lt;a&gt;").unwrap();
        let small = Picture::decode(&STANDARD.decode(text).unwrap()).unwrap();
        assert_eq!(small, Picture::new(96, 48, vec![7; 3 * 96 * 48]));
        std::fs::write(&path, "text").unwrap();
        assert_eq!(image_cell(&path, "a"), "a");
    }

    /// Evidence against the label is red and evidence for it is green. The part with the strongest evidence has the
    /// darkest mark; a part with less than a sixth of that evidence has no mark.
    #[test]
    fn words_are_marked_by_their_parts() {
        let text = "<a> bad good so".to_owned();
        let parts =
            vec![(0..3, -0.5), (3..4, 9.0), (4..7, -3.0), (7..8, 0.0), (8..12, 1.6), (12..15, 0.4)];
        let parts = TextParts { column: "t".into(), text, parts };
        let found = marked(&parts, 100);
        // The blank has the strongest evidence and is not marked. "bad" has a third of that evidence, so its level
        // is 1.
        let expected =
            "&lt;a&gt; <mark class=\"no1\">bad</mark> <mark class=\"yes1\">good</mark> so";
        assert_eq!(found, expected);
        assert_eq!(marked(&parts, 4), "&lt;a&gt; …");
    }
}
