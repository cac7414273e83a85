package chart

import (
	"image"
	"image/color"
	"testing"
)

// A picture with few colors keeps them all. One with many keeps the common ones, and the others
// differ little.
func TestIndexed(t *testing.T) {
	t.Parallel()
	for _, step := range []int{1, 32} {
		img := image.NewRGBA(image.Rect(0, 0, 256, 256))
		for x := range 256 {
			for y := range 256 {
				c := color.RGBA{uint8(x / step * step), uint8(y / step * step), 40, 255}
				if x < 8 || x > 100 && x < 120 {
					c = color.RGBA{255, 254, 253, 255}
				}
				img.SetRGBA(x, y, c)
			}
		}
		p, most := indexed(img), 0
		for x := range 256 {
			for y := range 256 {
				is, want := p.At(x, y).(color.RGBA), img.RGBAAt(x, y)
				for _, d := range []int{int(is.R) - int(want.R), int(is.G) - int(want.G), int(is.B) - int(want.B)} {
					most = max(most, d, -d)
				}
				if want.B == 253 && is != want {
					t.Fatalf("the most common color %v became %v", want, is)
				}
			}
		}
		if len(p.Palette) > 256 || step == 32 && most > 0 || most > 31 {
			t.Errorf("%d colors, which differ by up to %d", len(p.Palette), most)
		}
	}
}
