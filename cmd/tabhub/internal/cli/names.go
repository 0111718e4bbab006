package cli

import (
	"context"
	"regexp"
	"sync"

	"tabhub/cmd/tabhub/internal/command"
	"tabhub/hub/trust/policy"
)

// clientNames has the names of clients by the ids of their credentials. Rules and lines of the record
// have either.
type clientNames struct {
	app  *command.App
	read sync.Once
	byID map[string]string
}

// clientID is the form of an id.
var clientID = regexp.MustCompile(`^[a-z2-7]{16}$`)

// of names the client of a rule, by its id or its name; "" is any.
func (n *clientNames) of(client string) string {
	switch client {
	case "":
		return "any client"
	case policy.OwnerID:
		return "you"
	case policy.TokenID:
		return "programs with the hub's token"
	case policy.UnnamedID:
		return "programs without a credential"
	}
	if !clientID.MatchString(client) {
		return client
	}
	n.read.Do(func() {
		n.byID = map[string]string{}
		ctx, cancel := context.WithTimeout(context.Background(), command.AnswerTimeout)
		defer cancel()
		// Without the names, the rest is still worth reading.
		_ = command.WithClients(n.app, func(s command.ClientStore) error {
			all, err := s.List(ctx)
			for _, c := range all {
				n.byID[c.ID] = c.Name
			}
			return err
		})
	})
	if name := n.byID[client]; name != "" {
		return name
	}
	return "a client that is gone"
}
