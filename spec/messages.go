package spec

// MessageType describes one message of tabhub.v1.
type MessageType struct {
	Method string
	ToHub  bool // sent by the tab or browser; otherwise by the hub
	// Notification says that it is never answered. A message to the hub that may be
	// sent with or without an id is not one.
	Notification bool
	Params       any // pointer to a zero value of the parameters' type
	Result       any // the same of the answer's result; nil: an empty object, or an MCP result
	// Lists names the arrays of MCP objects that a registration holds beside Params.
	Lists []string
}

// MessageTypes returns every message of the protocol, in the order in which
// PROTOCOL.md has them.
func MessageTypes() []MessageType {
	register := func(method string, lists ...string) MessageType {
		return MessageType{Method: method, ToHub: true, Params: &Register{}, Result: &Registered{}, Lists: lists}
	}
	toHub := func(method string, params any) MessageType {
		return MessageType{Method: method, ToHub: true, Params: params}
	}
	request := func(params Request, result any) MessageType {
		return MessageType{Method: params.Method(), Params: params, Result: result}
	}
	return []MessageType{
		{Method: MethodPair, ToHub: true, Params: &Pair{}, Result: &PairResult{}},
		{Method: MethodHello, ToHub: true, Params: &Hello{}, Result: &HelloResult{}},
		register(MethodRegisterTools, "tools"),
		register(MethodUpdateTools, "tools"),
		register(MethodRegisterResources, "resources", "resourceTemplates"),
		register(MethodUpdateResources, "resources", "resourceTemplates"),
		register(MethodRegisterPrompts, "prompts"),
		register(MethodUpdatePrompts, "prompts"),
		toHub(MethodResourceUpdated, &ResourceUpdated{}),
		toHub(MethodTabState, &TabState{}),
		toHub(MethodTabClosed, &TabClosed{}),
		{Method: MethodDashboard, ToHub: true, Params: &Dashboard{}, Result: &DashboardResult{}},
		toHub(MethodPause, &Pause{}),
		toHub(MethodRelease, &Release{}),
		{Method: MethodPackScript, ToHub: true, Params: &PackScript{}, Result: &PackScriptResult{}},
		{Method: MethodRecorded, ToHub: true, Params: &Recorded{}, Result: &RecordedResult{}},
		{Method: MethodProgress, ToHub: true, Notification: true, Params: &Progress{}},
		{Method: MethodResumeCall, ToHub: true, Params: &ResumeCall{}, Result: &ResumeCallResult{}},

		request(&ExecuteTool{}, &Outcome{}),
		request(&Run{}, &RunResult{}),
		request(&ReadResource{}, nil),
		request(&SubscribeResource{}, nil),
		request(&GetPrompt{}, nil),
		request(&Complete{}, nil),
		{Method: MethodCancel, Notification: true, Params: &Cancel{}},
		request(&Ping{}, nil),
		request(&OpenTab{}, &OpenTabResult{}),
		request(&ActivateTab{}, nil),
		request(&CloseTab{}, nil),
		request(&ListTabs{}, &ListTabsResult{}),
		request(&Navigate{}, nil),
		request(&Screenshot{}, &ScreenshotResult{}),
		request(&Text{}, &TextResult{}),
		request(&Look{}, &LookResult{}),
		request(&Refs{}, &RefsResult{}),
		request(&Rest{}, &RestResult{}),
		request(&Ask{}, &AskResult{}),
		request(&EndRoom{}, &EndRoomResult{}),
		{Method: MethodOwnerState, Notification: true, Params: &OwnerState{}},
		{Method: MethodPacks, Notification: true, Params: &Packs{}},
		request(&ListPacks{}, &ListPacksResult{}),
		request(&Record{}, nil),
	}
}
