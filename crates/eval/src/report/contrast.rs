//! The contrast of colours, for tests.

/// The contrast of two colours `#rrggbb`, from 1 to 21, as defined by the Web Content Accessibility Guidelines.
pub(crate) fn contrast(a: &str, b: &str) -> f64 {
    let luminance = |colour: &str| -> f64 {
        let channel = |at: usize| {
            let share = f64::from(u8::from_str_radix(&colour[at..at + 2], 16).unwrap()) / 255.0;
            if share <= 0.04045 { share / 12.92 } else { ((share + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5)
    };
    let [a, b] = [a, b].map(luminance);
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

/// The named colours of a style sheet (`--name:#rrggbb`), on a light and on a dark background.
fn themes(css: &str) -> [Vec<(&str, &str)>; 2] {
    let (light, dark) = css.split_once("prefers-color-scheme:dark").unwrap();
    let (dark, _) = dark.split_once("}}").unwrap();
    [light, dark].map(|text| {
        let named = text.split("--").skip(1).filter_map(|part| part.split_once(':'));
        named.filter(|(_, colour)| colour.starts_with('#')).map(|(n, c)| (n, &c[..7])).collect()
    })
}

#[test]
fn contrast_is_that_of_the_guidelines() {
    assert!((contrast("#000000", "#ffffff") - 21.0).abs() < 1e-9);
    assert!((contrast("#777777", "#ffffff") - 4.478).abs() < 1e-3);
}

/// In the light and in the dark theme, text has a contrast of at least 4.5 to 1 with its background, and marks have a
/// contrast of at least 3 to 1.
#[test]
fn the_page_can_be_read_on_both_papers() {
    let css = include_str!("../../templates/page.css");
    let [light, dark] = themes(css);
    let names = |theme: &[(&str, &str)]| -> Vec<String> {
        theme.iter().map(|(name, _)| (*name).to_owned()).collect()
    };
    assert_eq!(names(&light), names(&dark));
    for theme in [light, dark] {
        let colour = |name: &str| theme.iter().find(|(n, _)| *n == name).unwrap().1;
        let texts = [
            ("ink", "paper"),
            ("ink", "panel"),
            ("soft", "paper"),
            ("soft", "panel"),
            ("link", "paper"),
            ("link", "panel"),
            ("holds", "holds-back"),
            ("violated", "violated-back"),
            ("open", "open-back"),
            ("soft", "track"),
        ];
        for (text, back) in texts {
            let found = contrast(colour(text), colour(back));
            assert!(found >= 4.5, "{text} on {back}: {found:.2}");
        }
        for (mark, back) in [
            ("holds", "track"),
            ("violated", "track"),
            ("open", "track"),
            ("ink", "track"),
            ("edge", "paper"),
        ] {
            let found = contrast(colour(mark), colour(back));
            assert!(found >= 3.0, "{mark} on {back}: {found:.2}");
        }
    }
}
