//! Colours of figures in the light and the dark theme.

use super::model::Colour;

/// Each colour in the light and in the dark theme. The colours follow the palette of Okabe and Ito, whose colours
/// colour-blind readers can tell apart. They are darkened or lightened so that each has a contrast of at least 3 to 1
/// with its background.
pub(super) const PALETTE: [(Colour, &str, &str); 8] = [
    (Colour::Blue, "#0072b2", "#4aa8e0"),
    (Colour::Orange, "#b57700", "#e69f00"),
    (Colour::Green, "#008a65", "#3ccf9f"),
    (Colour::Vermilion, "#d04f00", "#ff8b4d"),
    (Colour::Purple, "#b5588e", "#e08fc0"),
    (Colour::Sky, "#2a90d2", "#8fd0ff"),
    (Colour::Grey, "#7a7f87", "#9aa3ae"),
    (Colour::Ink, "#1f2328", "#e6e9ee"),
];

/// The colours of the background, of explanatory text, of grid lines and of axes.
const GREYS: [(&str, &str, &str); 4] = [
    (".paper{fill:", "#fffffe", "#15191f"),
    (".soft{fill:", "#57606a", "#a3acb8"),
    (".grid{stroke:", "#e4e8ec", "#2c333c"),
    (".axis{stroke:", "#8a929b", "#727c88"),
];

/// Styles that do not depend on the theme. If the narrow form of a figure follows the wide form on a page, the narrow
/// form replaces the wide form on a narrow screen.
const SHAPES: &str = "svg.hf{font:14px system-ui,-apple-system,\"Segoe UI\",Roboto,\"Liberation Sans\",sans-serif}\
.hf text{fill:currentColor}.hf .tick{font-size:13px}.hf .title{font-size:17px;font-weight:600}\
.hf .grid,.hf .axis,.hf .line,.hf .ring{fill:none}\
.hf .line,.hf .ring{stroke:currentColor;stroke-width:2;stroke-linejoin:round}\
.hf .dash{stroke-dasharray:7 5}.hf .band{fill:currentColor;fill-opacity:.15}\
.hf .mark{fill:currentColor;fill-opacity:.85}.hf.square .mark{fill-opacity:.4}.hf .lead{stroke-dasharray:1 3}\
.hf.wide+.hf.narrow{display:none}\
@media (max-width:44rem){.hf.wide:has(+.hf.narrow){display:none}.hf.wide+.hf.narrow{display:block}}";

/// The class of a colour in the style sheet.
pub(super) fn class(colour: Colour) -> &'static str {
    match colour {
        Colour::Blue => "blue",
        Colour::Orange => "orange",
        Colour::Green => "green",
        Colour::Vermilion => "vermilion",
        Colour::Purple => "purple",
        Colour::Sky => "sky",
        Colour::Grey => "grey",
        Colour::Ink => "ink",
    }
}

/// The style sheet of a figure.
pub(super) fn style() -> String {
    let rules = |dark: bool| {
        let pick =
            |light: &'static str, dark_one: &'static str| if dark { dark_one } else { light };
        let mut text = format!("svg.hf{{color:{}}}", pick(PALETTE[7].1, PALETTE[7].2));
        for (rule, light, dark) in GREYS {
            text.push_str(&format!(".hf {rule}{}}}", pick(light, dark)));
        }
        for (colour, light, dark) in PALETTE {
            text.push_str(&format!(".hf .{}{{color:{}}}", class(colour), pick(light, dark)));
        }
        text
    };
    format!(
        "<style>{SHAPES}{}@media (prefers-color-scheme:dark){{{}}}</style>",
        rules(false),
        rules(true)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::contrast;

    #[test]
    fn colours_stand_out_on_both_papers() {
        let [(_, light, dark), soft, _, axis] = GREYS;
        for (colour, on_light, on_dark) in PALETTE {
            let (least, name) = if colour == Colour::Ink { (7.0, "text") } else { (3.0, "line") };
            let found = [contrast(on_light, light), contrast(on_dark, dark)];
            assert!(found.iter().all(|c| *c >= least), "{colour:?} as {name}: {found:?}");
        }
        assert!(contrast(soft.1, light) >= 4.5 && contrast(soft.2, dark) >= 4.5);
        assert!(contrast(axis.1, light) >= 3.0 && contrast(axis.2, dark) >= 3.0);
    }
}
