package consent

import (
	"fmt"
	"slices"
	"time"

	"tabhub/naming"
)

// How often an owner is asked. Pages can make a model call, and models call again.
const (
	maxOfClient = 16 // calls that wait, and open questions for which none does
	maxOpen     = 64
	maxOften    = 3               // questions a minute of a client about a site
	maxMinute   = 6               // questions a minute of a client
	maxUnseen   = 2 * maxOfClient // questions a minute of a client that cannot be shown
	maxNo       = 2               // times that the owner declines a client on a site, in quietFor
	quietFor    = 10 * time.Minute
	declinedFor = time.Minute // for which a declined call is not asked about again; a deferred one is not for quietFor
)

// event is a question that was asked, or that was declined.
type event struct {
	at   time.Time
	site string
	key  key
	no   time.Duration // for which it was declined; 0: it was asked
	// unseen: it could not be shown to the owner.
	unseen bool
}

// history holds the events of the last quietFor, oldest first. Its own limits bound it.
type history []event

func (h *history) add(k key, no time.Duration, now time.Time) {
	*h = append(*h, event{now, naming.SiteOf(k.Site), k, no, false})
}

// addUnseen adds a question that could not be shown: each is stored.
func (h *history) addUnseen(k key, now time.Time) {
	*h = append(*h, event{now, naming.SiteOf(k.Site), k, 0, true})
}

// refuse returns why the owner is not asked about a call, "" if the owner is.
func (h *history) refuse(k key, now time.Time) string {
	*h = slices.DeleteFunc(*h, func(e event) bool { return now.Sub(e.at) >= quietFor })
	site := naming.SiteOf(k.Site)
	no, often, minute, unseen := 0, 0, 0, 0
	for _, e := range *h {
		here := e.key.Client == k.Client && e.site == site
		switch recent := now.Sub(e.at) < time.Minute; {
		case e.key == k && now.Sub(e.at) < e.no:
			return "the owner has just declined this very call; do not make it again unless the owner asks for it"
		case e.no > 0 && here:
			no++
		case e.unseen:
			if recent && e.key.Client == k.Client {
				unseen++
			}
		case e.no == 0 && recent && e.key.Client == k.Client:
			minute++
			if here {
				often++
			}
		}
	}
	switch {
	case unseen >= maxUnseen:
		return fmt.Sprintf("%d calls of this client within a minute wait for an owner who cannot be asked now; wait a minute", unseen)
	case no >= maxNo:
		return fmt.Sprintf("the owner has declined %d calls of this client there, and is not asked again within %s; do something else, or ask the owner in your own words", no, minutes(quietFor))
	case often >= maxOften:
		return fmt.Sprintf("the owner has been asked %d times within a minute about calls of this client there; wait a minute", often)
	case minute >= maxMinute:
		return fmt.Sprintf("the owner has been asked %d times within a minute about calls of this client; wait a minute", minute)
	}
	return ""
}
