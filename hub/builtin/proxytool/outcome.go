package proxytool

import (
	"cmp"
	"encoding/json"

	"tabhub/hub/call/ledger"
	"tabhub/hub/trust/consent"
)

// outcome serves action outcome: what became of a call of the client. The ledger does not store
// its own answer.
func (c *caller) outcome(op *operation, n *annotations) (*result, error) {
	c.by.Request.Hide()
	of := ledger.Session{Client: consent.Party(c.by.Principal, c.by.Bound), ID: cmp.Or(c.by.Session, c.by.Agent)}
	report := c.tool.hub.Ledger().Report(of, op.id, c.by.Request)
	data, err := json.Marshal(report)
	if err != nil {
		return nil, err
	}
	n.dataType("Outcome")
	n.multiple(false)
	return c.data("proxy:outcome/"+report.ID, data, data, n), nil
}
