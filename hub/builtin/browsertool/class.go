package browsertool

import "tabhub/hub/trust/policy"

// classes are what the actions of the tools may change at most, as far as their names say it. What is not here
// is an act.
var classes = map[string]map[string]policy.Class{
	TabTool: {
		"": policy.Read, "list": policy.Read, "new": policy.Write, "open": policy.Write, "close": policy.Write, "close_others": policy.Write,
		"activate": policy.Write, "claim": policy.Write, "release": policy.Read, "use": policy.Read,
	},
	PageTool: {
		"": policy.Read, "goto": policy.Write, "back": policy.Write, "forward": policy.Write, "reload": policy.Write,
		"wait": policy.Read, "screenshot": policy.Read, "text": policy.Read, "snapshot": policy.Read,
	},
	InstanceTool: {"": policy.Read, "list": policy.Read, "new": policy.Destructive, "close": policy.Write, "profiles": policy.Read},
}

// classOf is builtin.Tool.Class of a tool.
func classOf(tool string) func(action string) policy.Class {
	return func(action string) policy.Class {
		if class, ok := classes[tool][action]; ok {
			return class
		}
		return policy.Act
	}
}
