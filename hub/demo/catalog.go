package demo

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
)

// JSON is shop.json: {products, tools, resources, prompts}. The tools, resources
// and prompts are MCP objects.
//
//go:embed shop.json
var JSON []byte

// Product is one of the shop's goods.
type Product struct {
	ID          int64  `json:"id"`
	Name        string `json:"name"`
	Category    string `json:"category"`
	PriceCents  int64  `json:"priceCents"`
	Description string `json:"description"`
}

// picture is how a product looks: shapes on a square of 64 by 64, the later ones
// over the earlier. Colours are #rrggbb.
type picture struct {
	Background string  `json:"background"`
	Art        []shape `json:"art"`
}

// shape is a rectangle (x, y, width, height) or a disc (centre x, y, radius).
type shape struct {
	Rect  *[4]int `json:"rect"`
	Disc  *[3]int `json:"disc"`
	Color string  `json:"color"`
}

// catalog is shop.json, decoded.
type catalog struct {
	Products []struct {
		Product
		picture
	} `json:"products"`
	Tools     []json.RawMessage `json:"tools"`
	Resources []json.RawMessage `json:"resources"`
	Prompts   []json.RawMessage `json:"prompts"`
}

func loadCatalog() (*catalog, error) {
	c := new(catalog)
	if err := json.Unmarshal(JSON, c); err != nil {
		return nil, fmt.Errorf("shop.json: %w", err)
	}
	return c, nil
}

// search returns the products that have every word of query in their text and cost
// no more than maxCents, if that is not nil.
func (c *catalog) search(query string, maxCents *int64) []Product {
	words := strings.Fields(strings.ToLower(query))
	found := []Product{}
next:
	for _, p := range c.Products {
		if maxCents != nil && p.PriceCents > *maxCents {
			continue
		}
		text := strings.ToLower(p.Name + " " + p.Category + " " + p.Description)
		for _, w := range words {
			if !strings.Contains(text, w) {
				continue next
			}
		}
		found = append(found, p.Product)
	}
	return found
}

func (c *catalog) product(id int64) (Product, picture, error) {
	for _, p := range c.Products {
		if p.ID == id {
			return p.Product, p.picture, nil
		}
	}
	return Product{}, picture{}, fmt.Errorf("there is no product %d; search_products lists all", id)
}
