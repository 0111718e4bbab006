// Package packcli has the commands of `tabhub pack`.
package packcli
