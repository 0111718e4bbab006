// Package porttest finds ports for tests whose programs must be told where to listen.
package porttest
