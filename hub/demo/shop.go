package demo

import (
	"errors"
	"slices"
	"sync"
)

// maxQuantity is the most of one product that fits the cart.
const maxQuantity = 99

// shop is one customer's visit: the cart and the orders. It is safe for concurrent
// use.
type shop struct {
	catalog *catalog

	mu     sync.Mutex
	cart   []line // in the order in which products came in
	orders int64
}

type line struct {
	product  Product
	quantity int64
}

// Cart is what is in a cart.
type Cart struct {
	Items      []CartItem `json:"items"`
	TotalCents int64      `json:"totalCents"`
}

// CartItem is one line of a cart.
type CartItem struct {
	ProductID int64  `json:"productId"`
	Name      string `json:"name"`
	Quantity  int64  `json:"quantity"`
	LineCents int64  `json:"lineCents"`
}

// Order is a placed order.
type Order struct {
	OrderNumber int64 `json:"orderNumber"`
	TotalCents  int64 `json:"totalCents"`
}

func (s *shop) view() Cart {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.viewLocked()
}

func (s *shop) viewLocked() Cart {
	c := Cart{Items: make([]CartItem, len(s.cart))}
	for i, l := range s.cart {
		cents := l.product.PriceCents * l.quantity
		c.Items[i] = CartItem{l.product.ID, l.product.Name, l.quantity, cents}
		c.TotalCents += cents
	}
	return c
}

func (s *shop) add(id, quantity int64) (Cart, error) {
	p, _, err := s.catalog.product(id)
	if err != nil {
		return Cart{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.cart, func(l line) bool { return l.product.ID == id })
	if i < 0 {
		s.cart = append(s.cart, line{product: p})
		i = len(s.cart) - 1
	}
	s.cart[i].quantity = min(s.cart[i].quantity+quantity, maxQuantity)
	return s.viewLocked(), nil
}

func (s *shop) remove(id int64) Cart {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cart = slices.DeleteFunc(s.cart, func(l line) bool { return l.product.ID == id })
	return s.viewLocked()
}

func (s *shop) checkout() (Order, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.cart) == 0 {
		return Order{}, errors.New("the cart is empty; add_to_cart first")
	}
	s.orders++
	o := Order{OrderNumber: s.orders, TotalCents: s.viewLocked().TotalCents}
	s.cart = nil
	return o, nil
}
