package autostart

import (
	"fmt"
	"strings"
)

// Task returns a task of Windows' Task Scheduler, for the user of that name: DOMAIN\NAME.
func (e *Entry) Task(user string) string {
	args := make([]string, len(e.Args))
	for i, arg := range e.Args {
		args[i] = quoteWindows(arg)
	}
	return fmt.Sprintf(`<?xml version="1.0" encoding="UTF-16"?>
<Task version="1.2" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">
  <RegistrationInfo>
    <Description>tabhub, one MCP server for every tab</Description>
    <Documentation>%s
</Documentation>
  </RegistrationInfo>
  <Triggers>
    <LogonTrigger>
      <UserId>%s</UserId>
    </LogonTrigger>
  </Triggers>
  <Principals>
    <Principal id="Author">
      <UserId>%[2]s</UserId>
      <LogonType>InteractiveToken</LogonType>
      <RunLevel>LeastPrivilege</RunLevel>
    </Principal>
  </Principals>
  <Settings>
    <MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>
    <DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>
    <StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>
    <ExecutionTimeLimit>PT0S</ExecutionTimeLimit>
    <Priority>5</Priority>
    <RestartOnFailure>
      <Interval>PT1M</Interval>
      <Count>5</Count>
    </RestartOnFailure>
  </Settings>
  <Actions Context="Author">
    <Exec>
      <Command>%s</Command>
      <Arguments>%s</Arguments>
    </Exec>
  </Actions>
</Task>
`, escapeXML(e.record()), escapeXML(user), escapeXML(e.Program), escapeXML(strings.Join(args, " ")))
}

// quoteWindows quotes a word of a command line as programs of Windows parse it: a backslash is
// literal except before a quotation mark.
func quoteWindows(word string) string {
	if word != "" && !strings.ContainsAny(word, " \t\n\"") {
		return word
	}
	var b strings.Builder
	b.WriteByte('"')
	slashes := 0
	for _, c := range []byte(word) {
		switch c {
		case '\\':
			slashes++
		case '"':
			b.WriteString(strings.Repeat(`\`, slashes+1))
			slashes = 0
		default:
			slashes = 0
		}
		b.WriteByte(c)
	}
	b.WriteString(strings.Repeat(`\`, slashes) + `"`)
	return b.String()
}
