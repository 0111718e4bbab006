package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"

	"tabhub/tabtransport/extension"
	"tabhub/tabtransport/extension/internal/lab"
)

// observeWorker notes when the worker reads a frame from its socket, and when it sends one.
const observeWorker = `
	globalThis.seen = {};
	const now = () => performance.timeOrigin + performance.now();
	const {get} = Object.getOwnPropertyDescriptor(MessageEvent.prototype, "data");
	Object.defineProperty(MessageEvent.prototype, "data", {
		get() {
			seen.received = now();
			return get.call(this);
		},
	});
	const {send} = WebSocket.prototype;
	WebSocket.prototype.send = function (text) {
		seen.sent = now();
		return send.call(this, text);
	};
	0`

// observeFrame notes when the extension's part of a frame has the browser run a tool, and
// when the browser has.
const observeFrame = `
	globalThis.seen = {};
	const now = () => performance.timeOrigin + performance.now();
	const prototype = Object.getPrototypeOf(document.modelContext);
	const execute = prototype.executeTool;
	prototype.executeTool = async function (...args) {
		seen.asked = now();
		try {
			return await execute.apply(this, args);
		} finally {
			seen.answered = now();
		}
	};
	0`

// hops are the parts of a call, in their order.
var hops = []string{
	"client → bridge → hub → worker has it",
	"worker → frame's script calls executeTool",
	"executeTool → the page's tool runs",
	"the tool has run → executeTool is answered",
	"frame's script → worker sends the answer",
	"worker → hub → bridge → client has it",
}

// split calls the tool and prints the median of each hop.
func split(ctx context.Context, calls int, tab context.Context, call func() error) error {
	worker, end, err := workerOf(tab)
	if err != nil {
		return err
	}
	defer end()
	frame, err := frameWorld(tab)
	if err != nil {
		return err
	}
	if _, err := number(worker, 0, observeWorker); err != nil {
		return err
	}
	if _, err := number(tab, frame, observeFrame); err != nil {
		return err
	}
	parts := make([][]float64, len(hops))
	const warmUp = 20
	for i := range warmUp + calls {
		began := time.Now()
		if err := call(); err != nil {
			return err
		}
		ended := time.Now()
		points := []float64{ms(began)}
		for _, p := range []struct {
			world context.Context
			id    runtime.ExecutionContextID
			expr  string
		}{{worker, 0, "seen.received"}, {tab, frame, "seen.asked"}, {tab, 0, "ran"}, {tab, frame, "seen.answered"}, {worker, 0, "seen.sent"}} {
			at, err := number(p.world, p.id, p.expr)
			if err != nil {
				return err
			}
			points = append(points, at)
		}
		points = append(points, ms(ended))
		for j := range parts {
			if i >= warmUp {
				parts[j] = append(parts[j], points[j+1]-points[j])
			}
		}
	}
	for j, hop := range hops {
		fmt.Printf("%6.2f ms  %s\n", lab.Quantile(parts[j], 0.5), hop)
	}
	return nil
}

// workerOf attaches to the extension's service worker.
func workerOf(tab context.Context) (worker context.Context, end context.CancelFunc, err error) {
	targets, err := chromedp.Targets(tab)
	if err != nil {
		return nil, nil, err
	}
	i := slices.IndexFunc(targets, func(t *target.Info) bool {
		return t.Type == "service_worker" && strings.HasPrefix(t.URL, extension.Origin)
	})
	if i < 0 {
		return nil, nil, errors.New("the extension's worker does not run")
	}
	worker, end = chromedp.NewContext(tab, chromedp.WithTargetID(targets[i].TargetID), chromedp.WithDetachOnCancel())
	return worker, end, nil
}

// frameWorld returns the world of the extension in the page.
func frameWorld(tab context.Context) (runtime.ExecutionContextID, error) {
	var world runtime.ExecutionContextID
	err := chromedp.Listen(tab, func(event any) {
		if created, ok := event.(*runtime.EventExecutionContextCreated); ok && created.Context.Origin == extension.Origin {
			world = created.Context.ID
		}
	})
	if err != nil {
		return 0, err
	}
	// When the domain is enabled it tells of the worlds that there are.
	if _, err := lab.Call(tab, runtime.Disable, cdp.Empty{}); err != nil {
		return 0, err
	}
	if _, err := lab.Call(tab, runtime.Enable, cdp.Empty{}); err != nil {
		return 0, err
	}
	if world == 0 {
		return 0, errors.New("the extension has no script in the page")
	}
	return world, nil
}

// number evaluates an expression in one of a target's worlds; 0 is the main one.
func number(target context.Context, world runtime.ExecutionContextID, expr string) (float64, error) {
	got, err := lab.Call(target, runtime.Evaluate, runtime.EvaluateParams{Expression: expr, ContextID: world})
	if err != nil {
		return 0, err
	}
	var n float64
	if err := json.Unmarshal(got.Result.Value, &n); err != nil {
		return 0, fmt.Errorf("%s is not there: %w", expr, err)
	}
	return n, nil
}

func ms(t time.Time) float64 { return float64(t.UnixMicro()) / 1000 }
