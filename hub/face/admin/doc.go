// Package admin is the admin API, which the tabhub command and the dashboard use: the table Routes
// has its endpoints. The door (package httpd) checks the caller of an endpoint, by the Purpose of its
// row, before the API serves it. The dashboard's files are in package dashboard.
//
// Most endpoints are about the caller's tenant (package tenant). A request that changes the policy
// is noted with the means by which it came, the dashboard or a command.
package admin
