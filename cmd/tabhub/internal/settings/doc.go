// Package settings has the settings of a hub. Each is written once, in the table of settings.go,
// with its name, default, help and what it may be; flags, --set, the environment and the
// configuration file set it, and the help lists it. config.go has what the settings must be
// together.
package settings
