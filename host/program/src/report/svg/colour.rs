//! Colours that people with any form of colour blindness can tell apart.

/// A colour, 8 bits each of red, green and blue in sRGB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Colour(u8, u8, u8);

pub(super) const WHITE: Colour = Colour(0xff, 0xff, 0xff);
/// For text.
pub(super) const INK: Colour = Colour(0x22, 0x22, 0x22);
/// For axes and secondary text.
pub(super) const GREY: Colour = Colour(0x59, 0x59, 0x59);
/// For grid lines, and cells without a value.
pub(super) const PALE: Colour = Colour(0xe0, 0xe0, 0xe0);

const BLUE: Colour = Colour(0x00, 0x72, 0xb2);
const VERMILLION: Colour = Colour(0xd5, 0x5e, 0x00);

/// Okabe and Ito's colours without the yellow, which cannot be seen on white. Black is the last.
pub(super) const SERIES: [Colour; 7] = [
    BLUE,
    VERMILLION,
    Colour(0x00, 0x9e, 0x73),
    Colour(0xcc, 0x79, 0xa7),
    Colour(0xe6, 0x9f, 0x00),
    Colour(0x56, 0xb4, 0xe9),
    Colour(0x00, 0x00, 0x00),
];

/// For bars in one row: black, vermillion, sky blue. Their luminances are far apart, so that they
/// differ in black and white too.
pub(super) const BARS: [Colour; 3] = [SERIES[6], VERMILLION, SERIES[5]];

/// The diverging scale: blue at -1, white at 0, vermillion at 1.
pub(super) fn diverging(value: f64) -> Colour {
    let end = if value < 0.0 { BLUE } else { VERMILLION };
    let part = value.abs().min(1.0);
    let mix = |from: u8, to: u8| {
        (f64::from(from) + part * (f64::from(to) - f64::from(from))).round() as u8
    };
    Colour(mix(WHITE.0, end.0), mix(WHITE.1, end.1), mix(WHITE.2, end.2))
}

impl Colour {
    /// The colour in SVG notation.
    pub(super) fn hex(self) -> String {
        format!("#{:02x}{:02x}{:02x}", self.0, self.1, self.2)
    }

    /// The text colour that has more contrast on this colour: ink or white.
    pub(super) fn text(self) -> Self {
        if self.contrast(INK) >= self.contrast(WHITE) { INK } else { WHITE }
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
        0.2126 * linear(self.0) + 0.7152 * linear(self.1) + 0.0722 * linear(self.2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_is_white_and_the_ends_are_of_the_palette() {
        assert_eq!(diverging(0.0), WHITE);
        assert_eq!((diverging(-1.0), diverging(1.0)), (BLUE, VERMILLION));
        assert_eq!(diverging(7.0), VERMILLION);
    }

    #[test]
    fn no_two_series_share_a_colour_and_bars_differ_in_luminance() {
        for (number, colour) in SERIES.iter().enumerate() {
            assert!(!SERIES[..number].contains(colour), "{colour:?}");
        }
        for pair in BARS.windows(2) {
            let contrast = pair[0].contrast(pair[1]);
            assert!(contrast >= 1.6, "{contrast}: {pair:?}");
        }
    }

    #[test]
    fn text_on_every_shade_of_the_scale_has_the_contrast_that_wcag_asks_of_large_text() {
        for step in -100..=100 {
            let shade = diverging(f64::from(step) / 100.0);
            let contrast = shade.contrast(shade.text());
            assert!(contrast >= 3.9, "{contrast} at {step}");
        }
    }
}
