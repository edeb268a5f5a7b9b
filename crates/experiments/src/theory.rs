//! The page's appendix: errata of the sources and our own proofs, from docs/theory.
//!
//! The documents are compiled into the program, so that a report needs no other file. On the page, the names of other
//! documents and of claims are links.

use halfspaces_eval::Appendix;
use pulldown_cmark::{CowStr, Event, HeadingLevel, LinkType, Options, Parser, Tag, TagEnd, html};
use std::collections::BTreeSet;

/// Name and text of every document, the errata first.
const DOCUMENTS: [(&str, &str); 16] = [
    ("errata.md", include_str!("../../../docs/theory/errata.md")),
    ("massart-certificate.md", include_str!("../../../docs/theory/massart-certificate.md")),
    (
        "glm-without-padding-loss.md",
        include_str!("../../../docs/theory/glm-without-padding-loss.md"),
    ),
    ("perspectron-schedules.md", include_str!("../../../docs/theory/perspectron-schedules.md")),
    ("thinned-selection.md", include_str!("../../../docs/theory/thinned-selection.md")),
    ("noise-rate-binds.md", include_str!("../../../docs/theory/noise-rate-binds.md")),
    ("online-massart.md", include_str!("../../../docs/theory/online-massart.md")),
    ("massart-without-margin.md", include_str!("../../../docs/theory/massart-without-margin.md")),
    (
        "super-linear-convergence.md",
        include_str!("../../../docs/theory/super-linear-convergence.md"),
    ),
    ("random-order.md", include_str!("../../../docs/theory/random-order.md")),
    ("misspecified-links.md", include_str!("../../../docs/theory/misspecified-links.md")),
    ("constants-of-dktz23.md", include_str!("../../../docs/theory/constants-of-dktz23.md")),
    ("algorithm-1-in-law.md", include_str!("../../../docs/theory/algorithm-1-in-law.md")),
    ("largest-margin.md", include_str!("../../../docs/theory/largest-margin.md")),
    ("optimum.md", include_str!("../../../docs/theory/optimum.md")),
    ("volumetric-centre.md", include_str!("../../../docs/theory/volumetric-centre.md")),
];

/// All documents, with links to the claims that they name.
pub(crate) fn appendices(claims: &BTreeSet<String>) -> Vec<Appendix> {
    let appendix = |(name, text): (&str, &str)| Appendix {
        id: anchor(name),
        title: text.lines().next().unwrap_or(name).trim_start_matches("# ").into(),
        html: rendered(text, claims, name != "errata.md"),
        // Errata are shown; proofs are folded.
        folded: name != "errata.md",
    };
    DOCUMENTS.into_iter().map(appendix).collect()
}

fn anchor(name: &str) -> String {
    format!("theory-{}", name.trim_end_matches(".md"))
}

/// The HTML of a document without its title. The levels of the headings fit below the heading of a section, or below
/// the document's own title if the document is folded.
fn rendered(text: &str, claims: &BTreeSet<String>, folded: bool) -> String {
    let (open, close) = if folded { ("<h4>", "</h4>\n") } else { ("<h3>", "</h3>\n") };
    let (mut in_title, mut in_table) = (false, false);
    let mut events = Vec::new();
    for event in Parser::new_ext(text, Options::ENABLE_TABLES) {
        match event {
            Event::Start(Tag::Heading { level: HeadingLevel::H1, .. }) => in_title = true,
            Event::End(TagEnd::Heading(HeadingLevel::H1)) => in_title = false,
            _ if in_title => (),
            Event::Start(Tag::Heading { .. }) => events.push(Event::Html(open.into())),
            Event::End(TagEnd::Heading(_)) => events.push(Event::Html(close.into())),
            Event::Start(Tag::Table(columns)) => {
                in_table = true;
                events.push(Event::Html(
                    "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Table\">"
                        .into(),
                ));
                events.push(Event::Start(Tag::Table(columns)));
            }
            Event::End(TagEnd::Table) => {
                in_table = false;
                events.extend([Event::End(TagEnd::Table), Event::Html("</div>\n".into())]);
            }
            Event::Code(code) => match DOCUMENTS.iter().find(|(name, _)| **name == *code) {
                Some((name, _)) => events.extend(link(&anchor(name), Event::Code(code))),
                None => events.push(Event::Code(code)),
            },
            Event::Text(cell) if in_table => {
                // A cell gets links only if it lists claims and nothing else.
                let ids: Vec<&str> = cell.split(", ").collect();
                if !ids.iter().all(|id| claims.contains(*id)) {
                    events.push(Event::Text(cell));
                    continue;
                }
                for (at, id) in ids.iter().enumerate() {
                    if at > 0 {
                        events.push(Event::Text(", ".into()));
                    }
                    let text = Event::Text(CowStr::from((*id).to_owned()));
                    events.extend(link(&format!("claim-{id}"), text));
                }
            }
            other => events.push(other),
        }
    }
    let mut page = String::new();
    html::push_html(&mut page, events.into_iter());
    page
}

fn link<'a>(target: &str, inside: Event<'a>) -> [Event<'a>; 3] {
    let tag = Tag::Link {
        link_type: LinkType::Inline,
        dest_url: format!("#{target}").into(),
        title: "".into(),
        id: "".into(),
    };
    [Event::Start(tag), inside, Event::End(TagEnd::Link)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_document_is_included() {
        let folder = crate::workspace::workspace_root().join("docs/theory");
        let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
        let mut files: BTreeSet<String> = files.map(|f| f.into_string().unwrap()).collect();
        // README.md lists the documents and is not one of them.
        assert!(files.remove("README.md"));
        assert_eq!(files, DOCUMENTS.iter().map(|(name, _)| (*name).to_owned()).collect());
    }

    #[test]
    fn names_become_links_and_stars_stay_stars() {
        let claims = ["P1", "P7"].map(str::to_owned).into();
        let text = "# T\n\nSee `online-massart.md`, `other.md`, P1.\n\n| a | c |\n|---|---|\n| w*·x > w* | P1, P7 |\n| b | P1, P9 |\n";
        let page = rendered(text, &claims, true);
        assert!(!page.contains("T</h") && !page.contains("<em>"), "{page}");
        assert!(
            page.contains("<a href=\"#theory-online-massart\"><code>online-massart.md</code></a>")
        );
        assert!(page.contains("<code>other.md</code>, P1."));
        assert!(page.contains("<a href=\"#claim-P1\">P1</a>, <a href=\"#claim-P7\">P7</a>"));
        assert!(page.contains("<td>P1, P9</td>") && page.contains("w*·x"));
    }

    /// The star of w* must not be read as Markdown emphasis.
    #[test]
    fn formulas_keep_their_stars() {
        for (name, text) in DOCUMENTS {
            let page = rendered(text, &BTreeSet::new(), true);
            let stars = |text: &str| text.matches("w*").count();
            assert_eq!(stars(&page), stars(&text.replace("\\*", "*")), "{name}");
            for (at, _) in page.match_indices("<em>") {
                let before = page[..at].chars().next_back().unwrap();
                let here: String = page[at..].chars().take(60).collect();
                assert!(!before.is_alphanumeric(), "{name}: {before}{here}");
            }
        }
    }
}
