package chart

import (
	"image"
	"image/color"
	"maps"
	"slices"
)

// indexed returns a picture with at most 256 colors, which makes its PNG four times smaller. If the
// picture has more, colors that share the first bits of each component become the most common one
// of them.
func indexed(img *image.RGBA) *image.Paletted {
	// A run is pixels of the same color that follow each other.
	all, run, last := map[color.RGBA]int{}, 0, color.RGBA{}
	eachPixel(img, func(_, _ int, c color.RGBA) {
		if c != last {
			all[last] += run
			run, last = 0, c
		}
		run++
	})
	all[last] += run
	shift, palette := 0, color.Palette(nil)
	for palette == nil {
		palette = paletteOf(all, shift)
		shift++
	}
	index := map[color.RGBA]uint8{}
	for i, c := range palette {
		index[similar(c.(color.RGBA), shift-1)] = uint8(i)
	}
	for c := range all {
		all[c] = int(index[similar(c, shift-1)])
	}
	p := image.NewPaletted(img.Bounds(), palette)
	at := all[last]
	eachPixel(img, func(x, y int, c color.RGBA) {
		if c != last {
			last, at = c, all[c]
		}
		p.SetColorIndex(x, y, uint8(at))
	})
	return p
}

// similar returns a color without the last bits of its components.
func similar(c color.RGBA, bits int) color.RGBA {
	return color.RGBA{c.R >> bits, c.G >> bits, c.B >> bits, c.A >> bits}
}

// paletteOf returns the most common color of each group of similar ones, or nil if there are more
// than 256 groups. count has the number of pixels of each color.
func paletteOf(count map[color.RGBA]int, bits int) color.Palette {
	most := map[color.RGBA]color.RGBA{}
	for c, n := range count {
		of := similar(c, bits)
		if other, known := most[of]; !known || n > count[other] || n == count[other] && before(c, other) {
			most[of] = c
		}
	}
	if len(most) > 256 {
		return nil
	}
	list := slices.SortedFunc(maps.Values(most), func(a, b color.RGBA) int {
		if before(a, b) {
			return -1
		}
		return 1
	})
	var palette color.Palette
	for _, c := range list {
		palette = append(palette, c)
	}
	return palette
}

// before orders colors.
func before(a, b color.RGBA) bool {
	return slices.Compare([]uint8{a.R, a.G, a.B, a.A}, []uint8{b.R, b.G, b.B, b.A}) < 0
}

// eachPixel calls f with each pixel of a picture.
func eachPixel(img *image.RGBA, f func(x, y int, c color.RGBA)) {
	b := img.Bounds()
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			f(x, y, img.RGBAAt(x, y))
		}
	}
}
