package record

import (
	"encoding/hex"
	"encoding/json"
	"strconv"
	"time"

	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// Line is a line of the record.
type Line struct {
	N    uint64 `json:"n"`             // 1, 2, 3 …
	Prev Hash   `json:"prev,omitzero"` // of the line before it
	Entry
	// Late is the node that has written the line late: when another had written for the user.
	Late string `json:"late,omitempty"`
	Note *Note  `json:"note,omitempty"` // of the event Self alone

	sum     Hash    // of arguments that Args no longer has
	notKept NotKept // of arguments and results that Args and Result no longer have
}

// texts yields the names and texts of an entry's members.
func (e *Entry) texts(yield func(key, text string) bool) {
	for _, t := range [...]struct{ key, text string }{
		{"event", string(e.Event)}, {"call", e.Call}, {"task", e.Task}, {"client", e.Client}, {"name", e.Name}, {"said", e.Said},
		{"session", e.Session}, {"via", e.Via}, {"tab", e.Tab}, {"domain", string(e.Domain)}, {"origin", e.Origin}, {"url", e.URL},
		{"tool", e.Tool}, {"pack", e.Pack}, {"class", e.Class}, {"digest", e.Digest}, {"decision", e.Decision}, {"rule", e.Rule}, {"question", e.Question},
		{"by", e.By}, {"reach", e.Reach}, {"outcome", e.Outcome}, {"reason", e.Reason}, {"changed", e.Changed},
	} {
		if !yield(t.key, t.text) {
			return
		}
	}
}

// appendJSON appends the JSON of the line, without a line end.
func (l *Line) appendJSON(b []byte) []byte {
	b = strconv.AppendUint(append(b, `{"n":`...), l.N, 10)
	if l.Prev != (Hash{}) {
		b = append(hex.AppendEncode(append(b, `,"prev":"`...), l.Prev[:]), '"')
	}
	b = append(l.Time.AppendFormat(append(b, `,"time":"`...), time.RFC3339Nano), '"')
	for key, text := range l.texts {
		if text != "" || key == "event" || key == "outcome" {
			b = rawjson.AppendString(append(append(append(b, `,"`...), key...), `":`...), text)
		}
	}
	if l.Late != "" {
		b = rawjson.AppendString(append(b, `,"late":`...), l.Late)
	}
	for i, flow := range l.Flows {
		if i == 0 {
			b = append(b, `,"flows":[`...)
		} else {
			b = append(b, ',')
		}
		b = rawjson.AppendString(b, flow)
	}
	if len(l.Flows) > 0 {
		b = append(b, ']')
	}
	for _, d := range [...]struct {
		key string
		d   time.Duration
	}{{"asked", l.Asked}, {"decided", l.Decided}, {"sent", l.Sent}} {
		if d.d != 0 {
			b = strconv.AppendInt(append(append(append(b, `,"`...), d.key...), `":`...), int64(d.d), 10)
		}
	}
	b = strconv.AppendInt(append(b, `,"duration":`...), int64(l.Duration), 10)
	if l.Note != nil { // of the log itself, and rare
		note, _ := json.Marshal(l.Note) // strings, times and numbers
		b = append(append(b, `,"note":`...), note...)
	}
	return append(b, '}')
}

// Note is what the log says of itself. One field at least is set.
type Note struct {
	// User is the user of the record. It is in the first line of each epoch, and where one goes on
	// behind lines of another.
	User spec.UserID `json:"user,omitempty"`
	// Late is the node that writes late from here on, see Line.Late.
	Late string `json:"late,omitempty"`
	// Torn is how many bytes of an unfinished last line of the epoch before were cut off.
	Torn int `json:"torn,omitempty"`
	// Missing is how many lines before this one are gone from the files, by the head.
	Missing uint64 `json:"missing,omitempty"`
	// Lost are entries that could not be written.
	Lost *Lost `json:"lost,omitempty"`
	// Unsynced is the first of the lines before this one that are lost if the machine has crashed,
	// because the disk has not confirmed them.
	Unsynced uint64 `json:"unsynced,omitempty"`
	// Retired is the last of the lines that were removed for their age, or to make room.
	Retired *Head `json:"retired,omitempty"`
	// Why is the error behind it.
	Why string `json:"why,omitempty"`
}

// Lost counts entries that could not be written.
type Lost struct {
	Count uint64    `json:"count"`
	From  time.Time `json:"from"`
	To    time.Time `json:"to"`
}

// Status says whether a log can be written.
type Status struct {
	// Error says why nothing can be written now, "" if it can.
	Error string `json:"error,omitempty"`
	// Lost is how many entries could not be written since the log was opened.
	Lost uint64 `json:"lost,omitempty"`
}
