package demo

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
)

// pictureScale is how many pixels one unit of a shape has.
const pictureScale = 4

// png draws the picture.
func (p picture) png() ([]byte, error) {
	img := image.NewRGBA(image.Rect(0, 0, 64*pictureScale, 64*pictureScale))
	ground, err := parseColor(p.Background)
	if err != nil {
		return nil, err
	}
	draw.Draw(img, img.Bounds(), image.NewUniform(ground), image.Point{}, draw.Src)
	for _, s := range p.Art {
		c, err := parseColor(s.Color)
		if err != nil {
			return nil, err
		}
		switch {
		case s.Rect != nil:
			r := s.Rect
			area := image.Rect(r[0], r[1], r[0]+r[2], r[1]+r[3])
			area.Min, area.Max = area.Min.Mul(pictureScale), area.Max.Mul(pictureScale)
			draw.Draw(img, area, image.NewUniform(c), image.Point{}, draw.Src)
		case s.Disc != nil:
			fillDisc(img, s.Disc[0]*pictureScale, s.Disc[1]*pictureScale, s.Disc[2]*pictureScale, c)
		}
	}
	var buf bytes.Buffer
	if err := png.Encode(&buf, img); err != nil {
		return nil, err
	}
	return buf.Bytes(), nil
}

func fillDisc(img *image.RGBA, cx, cy, r int, c color.RGBA) {
	for y := -r; y < r; y++ {
		for x := -r; x < r; x++ {
			// Measured from the middle of the pixel, in half pixels.
			if (2*x+1)*(2*x+1)+(2*y+1)*(2*y+1) <= 4*r*r {
				img.SetRGBA(cx+x, cy+y, c)
			}
		}
	}
}

func parseColor(s string) (color.RGBA, error) {
	c := color.RGBA{A: 0xff}
	if _, err := fmt.Sscanf(s, "#%02x%02x%02x", &c.R, &c.G, &c.B); err != nil {
		return c, fmt.Errorf("colour %q: %w", s, err)
	}
	return c, nil
}
