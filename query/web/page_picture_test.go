package web_test

import (
	"bytes"
	"flag"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"maps"
	"os"
	"slices"
	"testing"

	"github.com/chromedp/chromedp"

	"kith/db"
	"kith/db/dbtest"
	"kith/query"
	"kith/query/web"
)

var update = flag.Bool("update", false, "take page.png, the picture of the page in the README, again")

// TestPagePicture checks the size of the page's picture in the README. With -update it takes the
// picture again: of a node of ego-Facebook, with a model trained by default.
func TestPagePicture(t *testing.T) {
	const name, width, height, most = "page.png", 1200, 720, 150 << 10
	if *update {
		takePicture(t, name, width, height)
	}
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	c, err := png.DecodeConfig(bytes.NewReader(b))
	if err != nil || c.Width != width || c.Height != height || len(b) > most {
		t.Errorf("%s has %d by %d pixels and %d bytes, want %d by %d and at most %d bytes; error %v", name, c.Width, c.Height, len(b), width, height, most, err)
	}
}

func takePicture(t *testing.T, name string, width, height int) {
	list, err := os.Open("../../../shared/data/snap/facebook_combined.txt")
	if err != nil {
		t.Skip(err)
	}
	defer list.Close()                                                // only read
	g := dbtest.Open(t, &db.Options{InMemory: true, Memory: 2 << 30}) // the default of a machine with 8 GB
	if _, err := g.Load(t.Context(), list, db.LoadOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{"CREATE MODEL friends", "TRAIN MODEL friends"} {
		if _, err := query.Run(t.Context(), g, statement); err != nil {
			t.Fatal(err)
		}
	}
	p := open(t, g, width, height, web.Options{})
	p.do(chromedp.Evaluate[chromedp.Void](`location.hash = "node=348"`))
	p.until(`document.querySelector("#picture[aria-busy=false] a.node") && document.querySelectorAll(".link").length === 10`)
	p.until(`document.getElementById("live").dataset.state === "live" && getComputedStyle(document.getElementById("picture")).opacity === "1"`)
	var b bytes.Buffer
	img, err := png.Decode(bytes.NewReader(value(p, chromedp.CaptureScreenshot())))
	if err == nil {
		err = png.Encode(&b, paletted(img))
	}
	if err == nil {
		err = os.WriteFile(name, b.Bytes(), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// paletted returns a picture with its 256 most common colors, which takes a third of the bytes.
func paletted(img image.Image) image.Image {
	count := map[color.Color]int{}
	b := img.Bounds()
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			count[img.At(x, y)]++
		}
	}
	all := slices.SortedFunc(maps.Keys(count), func(a, b color.Color) int { return count[b] - count[a] })
	p := image.NewPaletted(b, all[:min(len(all), 256)])
	draw.Draw(p, b, img, b.Min, draw.Src)
	return p
}
