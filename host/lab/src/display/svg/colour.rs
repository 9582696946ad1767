//! Colours that people with any form of colour blindness can distinguish.

use super::role::Role;

/// A colour, 8 bits each of red, green and blue in sRGB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Colour {
    rgb: [u8; 3],
    /// The class of elements with this colour, by which a page can restyle them. Empty for a colour
    /// that suits any page.
    class: &'static str,
}

/// For the background.
pub(super) const WHITE: Colour = Colour { rgb: [0xff; 3], class: "paper" };
/// For text.
pub(super) const INK: Colour = Colour { rgb: [0x22; 3], class: "ink" };
/// For axes and secondary text.
pub(super) const GREY: Colour = Colour { rgb: [0x59; 3], class: "grey" };
/// For grid lines, and cells without a value.
pub(super) const PALE: Colour = Colour { rgb: [0xe0; 3], class: "pale" };

const BLACK: Colour = Colour { rgb: [0x00; 3], class: "black" };
const BLUE: Colour = Colour::plain(0x00, 0x72, 0xb2);
const VERMILLION: Colour = Colour::plain(0xd5, 0x5e, 0x00);

/// For peers.
const PEERS: [Colour; 2] = [VERMILLION, Colour::plain(0xe6, 0x9f, 0x00)];

/// For series without a special role: the rest of Okabe and Ito's colours, without yellow, which is
/// invisible on white, and three others.
const OTHERS: [Colour; 7] = [
    Colour::plain(0x00, 0x9e, 0x73),
    Colour::plain(0xcc, 0x79, 0xa7),
    SKY,
    BLACK,
    Colour::plain(0x99, 0x99, 0x33),
    Colour::plain(0x8c, 0x56, 0x4b),
    Colour::plain(0xaa, 0x44, 0x99),
];

const SKY: Colour = Colour::plain(0x56, 0xb4, 0xe9);

/// For bars without a special role in one row: black, grey, sky blue. Their luminances are far
/// apart, so that they also differ in black and white.
pub(super) const BARS: [Colour; 3] = [BLACK, GREY, SKY];

/// More series of one role than colours for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TooMany {
    pub(super) found: usize,
    pub(super) most: usize,
}

/// The colours of lines and points with these roles.
pub(super) fn of_series(roles: &[Role]) -> Result<Vec<Colour>, TooMany> {
    of_roles(roles, &OTHERS)
}

/// The colours of bars with these roles. A single series without a special role has the lightest.
pub(super) fn of_bars(roles: &[Role]) -> Result<Vec<Colour>, TooMany> {
    let first = if roles.len() == 1 { BARS.len() - 1 } else { 0 };
    of_roles(roles, &BARS[first..])
}

fn of_roles(roles: &[Role], others: &[Colour]) -> Result<Vec<Colour>, TooMany> {
    let colour = |(number, role): (usize, &Role)| {
        let colours: &[Colour] = match role {
            Role::Ours => &[BLUE],
            Role::Peer => &PEERS,
            Role::Roof => &[GREY],
            Role::Other => others,
        };
        let before = roles[..number].iter().filter(|other| *other == role).count();
        colours.get(before).copied().ok_or_else(|| TooMany {
            found: roles.iter().filter(|other| *other == role).count(),
            most: colours.len(),
        })
    };
    roles.iter().enumerate().map(colour).collect()
}

/// The diverging scale: blue at -1, where gridsync is faster, white at 0, vermillion at 1, where it
/// is slower.
pub(super) fn diverging(value: f64) -> Colour {
    let end = if value < 0.0 { BLUE } else { VERMILLION };
    let part = value.abs().min(1.0);
    let mix = |from: u8, to: u8| {
        (f64::from(from) + part * (f64::from(to) - f64::from(from))).round() as u8
    };
    let [red, green, blue] = [0, 1, 2].map(|channel| mix(WHITE.rgb[channel], end.rgb[channel]));
    Colour::plain(red, green, blue)
}

impl Colour {
    /// A colour that suits any page.
    const fn plain(red: u8, green: u8, blue: u8) -> Self {
        Self { rgb: [red, green, blue], class: "" }
    }

    /// The attribute `name`, such as `fill` or `stroke`, with this colour and its class.
    pub(super) fn paint(self, name: &str) -> String {
        let Self { rgb: [red, green, blue], class } = self;
        let colour = format!("{name}=\"#{red:02x}{green:02x}{blue:02x}\"");
        match class {
            "" => colour,
            class => format!("{colour} class=\"{class}\""),
        }
    }

    /// Ink or white, whichever contrasts more with this colour. A page can restyle the result only
    /// if it can restyle this colour.
    pub(super) fn text(self) -> Self {
        let text = if self.contrast(INK) >= self.contrast(WHITE) { INK } else { WHITE };
        match self.class {
            "" => Self { class: "", ..text },
            _ => text,
        }
    }

    /// The contrast ratio of WCAG 2, from 1 to 21.
    fn contrast(self, other: Self) -> f64 {
        let (a, b) = (self.luminance(), other.luminance());
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    /// The relative luminance of WCAG 2, from 0 to 1.
    fn luminance(self) -> f64 {
        let linear = |channel: u8| {
            let c = f64::from(channel) / 255.0;
            if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
        };
        let [red, green, blue] = self.rgb.map(linear);
        0.2126 * red + 0.7152 * green + 0.0722 * blue
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_is_white_and_the_ends_are_palette_colours() {
        assert_eq!(diverging(0.0).rgb, WHITE.rgb);
        assert_eq!((diverging(-1.0), diverging(1.0)), (BLUE, VERMILLION));
        assert_eq!(diverging(7.0), VERMILLION);
    }

    #[test]
    fn no_two_series_share_a_colour_and_bars_differ_in_luminance() {
        let special = [Role::Ours, Role::Peer, Role::Peer, Role::Roof];
        let all = of_series(&[&special[..], &[Role::Other; 7]].concat()).expect("so many");
        for (number, colour) in all.iter().enumerate() {
            assert!(!all[..number].contains(colour), "{colour:?}");
        }
        for pair in BARS.windows(2) {
            let contrast = pair[0].contrast(pair[1]);
            assert!(contrast >= 1.6, "{contrast}: {pair:?}");
        }
    }

    #[test]
    fn a_role_has_one_colour_in_lines_bars_and_heat_maps() {
        let roles = [Role::Other, Role::Ours, Role::Peer];
        let lines = of_series(&roles).expect("so many");
        let bars = of_bars(&roles).expect("so many");
        assert_eq!(lines[1..], bars[1..]);
        assert_eq!(lines[1..], [diverging(-1.0), diverging(1.0)], "faster, slower");
        let others = [&OTHERS[..], &BARS].concat();
        assert!(others.iter().all(|colour| !lines[1..].contains(colour)), "{others:?}");
    }

    #[test]
    fn only_text_on_paper_can_be_restyled_by_a_page() {
        assert_eq!(diverging(0.0).text().paint("fill"), "fill=\"#222222\"");
        assert_eq!(PALE.text().paint("fill"), "fill=\"#222222\" class=\"ink\"");
    }

    #[test]
    fn text_on_every_shade_has_enough_contrast_for_large_text() {
        for step in -100..=100 {
            let shade = diverging(f64::from(step) / 100.0);
            let contrast = shade.contrast(shade.text());
            assert!(contrast >= 3.9, "{contrast} at {step}");
        }
    }
}
