//go:build nightly

package extension_test

func init() {
	endings = append(endings, ending{
		"all memory", `await page.click('button "Add"'); page.wait(30000); const all = []; for (;;) all.push(new Array(1e6).fill(all.length + 0.5))`, nil,
		`0 STEP_SCRIPT the script is gone: the browser has ended it, as when it takes too much memory [click yes]`,
	})
}
