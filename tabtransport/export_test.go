package tabtransport

// Connected returns how many peers have a connection.
func (p *Peers) Connected() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := 0
	for _, peer := range p.peers {
		if peer.attachment != nil {
			n++
		}
	}
	return n
}
