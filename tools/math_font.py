"""Make the font of the formulas again: the part of STIX Two Math that formulas use, as odesys/report/fonts/math.woff2.

Needs `pip install ziamath brotli`: the wheel of ziamath carries the font, fonttools comes with matplotlib.

    python -m tools.math_font [STIXTwoMath-Regular.ttf]
"""

from __future__ import annotations

import sys
from importlib import resources
from pathlib import Path
from typing import Any

from fontTools import subset

OUT = Path(__file__).resolve().parents[1] / "odesys" / "report" / "fonts" / "math.woff2"
LATIN = [*range(0x20, 0x7F), 0xA0, 0xAC, 0xB1, 0xB7, 0xD7, 0xAF, 0xA8, 0xB4]
GREEK = [*range(0x391, 0x3AA), *range(0x3B1, 0x3CA), 0x3D1, 0x3D5, 0x3D6, 0x3F1, 0x3F5]
ITALIC = [*range(0x1D434, 0x1D468), 0x210E, *range(0x1D6E2, 0x1D71C)]
BOLD = [*range(0x1D400, 0x1D434), 0x1D7CE, 0x1D7CF]
SCRIPT = [*range(0x1D49C, 0x1D4B6), 0x212C, 0x2130, 0x2131, 0x210B, 0x2110, 0x2112, 0x2133, 0x211B, 0x2113]
DOUBLE_STRUCK = [*range(0x1D538, 0x1D552), 0x2102, 0x210D, 0x2115, 0x2119, 0x211A, 0x211D, 0x2124, 0x1D7D9]
SANS = [*range(0x1D5A0, 0x1D5BA)]
SIGNS = [
    *map(ord, "‖′″‴†‡•…∀∂∃∄∅∆∇∈∉∋∏∑−∓∗∘√∝∞∠∣∥∧∨∩∪∫∬∼≃≈≅≠≡≤≥≪≫≲≳≺≻⊂⊃⊆⊇⊕⊖⊗⊙⊤⊥⋅⋆⋮⋯⋱⌈⌉⌊⌋⟨⟩←↑→↓↔⇐⇒⇔↦⟵⟶⟹⟺∖¯ˆˇ˜˙⁡⁢⁣‾ℏ–—×÷∕⁄⏞⏟"),
    *range(0x300, 0x309),
    0x20D7,
]
ROOT_WIDTH = 840  # of every root sign, in thousandths of the size of the letters
STRETCHED = [*map(ord, "()[]{}|‖⟨⟩⌈⌉⌊⌋√∑∏∫/¯ˆ˜"), 0x302, 0x303, 0x304, 0x305]


def _keep_what_stretches(font: Any) -> None:
    """Of the larger variants keep those of delimiters, roots, sums, integrals and bars: no others are asked for."""
    variants, names = font["MATH"].table.MathVariants, font.getBestCmap()
    kept = {names[code] for code in STRETCHED if code in names}
    for coverage, constructions in (("VertGlyphCoverage", "Vert"), ("HorizGlyphCoverage", "Horiz")):
        table = getattr(variants, coverage)
        made = getattr(variants, f"{constructions}GlyphConstruction")
        pairs = [(glyph, item) for glyph, item in zip(table.glyphs, made, strict=True) if glyph in kept]
        table.glyphs = [glyph for glyph, _ in pairs]
        setattr(variants, f"{constructions}GlyphConstruction", [item for _, item in pairs])
        setattr(variants, f"{constructions}GlyphCount", len(pairs))


def _roots_of_one_width(font: Any) -> None:
    """All sizes of the root sign get one width: browsers keep room for the widest, a gap behind all others."""
    variants = font["MATH"].table.MathVariants
    made = dict(zip(variants.VertGlyphCoverage.glyphs, variants.VertGlyphConstruction, strict=True))
    sizes = made[font.getBestCmap()[ord("√")]]
    base, *larger = [each.VariantGlyph for each in sizes.MathGlyphVariantRecord]
    for name in (base, *larger, *(part.glyph for part in sizes.GlyphAssembly.PartRecords)):
        width, _ = font["hmtx"][name]
        scale, shift = (1.0, ROOT_WIDTH - width) if name == base else (ROOT_WIDTH / width, 0)
        glyph = font["glyf"][name]
        glyph.coordinates.scale((scale, 1.0))
        glyph.coordinates.translate((shift, 0))
        glyph.coordinates.toInt()
        glyph.recalcBounds(font["glyf"])
        font["hmtx"][name] = (ROOT_WIDTH, glyph.xMin)


def main() -> None:
    """Write the subset and print its size."""
    given = sys.argv[1] if len(sys.argv) > 1 else str(resources.files("ziamath") / "fonts" / "STIXTwoMath-Regular.ttf")
    options = subset.Options(flavor="woff2", hinting=False, desubroutinize=True, name_IDs=[0, 1, 2, 5, 13, 14])
    options.layout_features = []  # optical forms of scripts would double the size; plain letters are made smaller
    options.drop_tables += ["DSIG", "GPOS", "GDEF", "GSUB"]
    font = subset.load_font(given, options)
    wanted = [*LATIN, *GREEK, *ITALIC, *BOLD, *SCRIPT, *DOUBLE_STRUCK, *SANS, *SIGNS]
    chosen = subset.Subsetter(options)
    chosen.populate(unicodes=wanted)
    _keep_what_stretches(font)
    chosen.subset(font)
    _roots_of_one_width(font)
    OUT.parent.mkdir(exist_ok=True)
    subset.save_font(font, str(OUT), options)
    print(f"{OUT.name}: {OUT.stat().st_size} bytes, {len(font.getGlyphOrder())} glyphs")


if __name__ == "__main__":
    main()
