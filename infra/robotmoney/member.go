package main

import (
	"context"
	"flag"
	"fmt"
	"strings"

	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/money"
)

// memberList prints a tenant's people.
func memberList(ctx context.Context, c *call) error {
	t, err := c.forTenant(0)
	if err != nil {
		return err
	}
	target, err := c.connect(ctx)
	if err != nil {
		return err
	}
	members, err := target.roster.Members(ctx, t)
	if err != nil {
		return err
	}
	var lines [][2]string
	for _, m := range members {
		lines = append(lines, [2]string{m.ID, fmt.Sprintf("%s, %s, %s; %s", m.Name, m.Role, m.Status, authority(m))})
	}
	return c.print(members, lines...)
}

func authority(m identity.MemberRecord) string {
	if len(m.Domains) == 0 {
		return "approves nothing"
	}
	var domains, limits []string
	for _, d := range m.Domains {
		domains = append(domains, string(d))
	}
	for _, l := range m.Limits {
		limits = append(limits, l.Amount+" "+l.Currency)
	}
	text := "approves " + strings.Join(domains, ", ") + " up to " + strings.Join(limits, ", ")
	if m.SecondApprover != nil {
		text += ", with somebody else above " + m.SecondApprover.Amount + " " + m.SecondApprover.Currency
	}
	return text
}

// person are the flags that say what a member may do.
type person struct {
	flags                                     *flag.FlagSet
	name, role, status, domains, limit, above *string
}

func personOf(f *flag.FlagSet) person {
	return person{
		flags: f, name: f.String("name", "", "the member's name"), role: f.String("role", "", "viewer, approver or admin"),
		status: f.String("status", "", "invited, active or deactivated"), domains: f.String("domains", "", "approval domains, comma-separated: ap, ar, treasury, payroll, reconciliation"),
		limit: f.String("limit", "", "greatest amounts to approve, comma-separated, such as 10000USD,500USDC"), above: f.String("second-above", "", "amount above which somebody else must approve too, such as 5000USD; none removes it"),
	}
}

// change applies the flags that were given to a record.
func (p person) change() (func(*identity.MemberRecord), error) {
	var domains []identity.Domain
	for _, d := range split(*p.domains) {
		domains = append(domains, identity.Domain(d))
	}
	var limits []money.Written
	for _, text := range split(*p.limit) {
		limit, err := amountOf(text)
		if err != nil {
			return nil, err
		}
		limits = append(limits, limit)
	}
	var above *money.Written
	if *p.above != "" && *p.above != "none" {
		limit, err := amountOf(*p.above)
		if err != nil {
			return nil, err
		}
		above = &limit
	}
	given := map[string]bool{}
	p.flags.Visit(func(f *flag.Flag) { given[f.Name] = true })
	return func(m *identity.MemberRecord) {
		for name, set := range map[string]func(){
			"name": func() { m.Name = *p.name }, "role": func() { m.Role = identity.Role(*p.role) }, "status": func() { m.Status = identity.Status(*p.status) },
			"domains": func() { m.Domains = domains }, "limit": func() { m.Limits = limits }, "second-above": func() { m.SecondApprover = above },
		} {
			if given[name] {
				set()
			}
		}
	}, nil
}

func split(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, ",")
}

// amountOf reads an amount with its currency behind it, such as 10000USD.
func amountOf(text string) (money.Written, error) {
	at := strings.LastIndexAny(text, "0123456789.") + 1
	w := money.Written{Amount: strings.TrimSpace(text[:at]), Currency: strings.TrimSpace(text[at:])}
	amount, err := w.Read()
	if err != nil {
		return w, usageError(fmt.Sprintf("amount %q: %v", text, err))
	}
	return money.Write(amount), nil
}

// memberAdd enters a person. Who is not given a state is active.
func memberAdd(ctx context.Context, c *call) error {
	return c.member(ctx, func(ctx context.Context, target *target, t identity.Tenant, actor identity.Actor, requestID string, change func(*identity.MemberRecord)) (identity.MemberRecord, error) {
		rec := identity.MemberRecord{ID: c.args[0], Role: identity.Viewer, Status: identity.Active}
		change(&rec)
		return target.roster.AddMember(ctx, t, actor, requestID, rec)
	})
}

// memberSet changes what was given and leaves the rest.
func memberSet(ctx context.Context, c *call) error {
	return c.member(ctx, func(ctx context.Context, target *target, t identity.Tenant, actor identity.Actor, requestID string, change func(*identity.MemberRecord)) (identity.MemberRecord, error) {
		return target.roster.ChangeMember(ctx, t, actor, requestID, c.args[0], change)
	})
}

// member runs a command about one member and prints the record.
func (c *call) member(ctx context.Context, do func(context.Context, *target, identity.Tenant, identity.Actor, string, func(*identity.MemberRecord)) (identity.MemberRecord, error)) error {
	flags := personOf(c.flags)
	t, err := c.forTenant(1)
	if err != nil {
		return err
	}
	change, err := flags.change()
	if err != nil {
		return err
	}
	target, err := c.connect(ctx)
	if err != nil {
		return err
	}
	actor, requestID, err := operator()
	if err != nil {
		return err
	}
	rec, err := do(ctx, target, t, actor, requestID, change)
	if err != nil {
		return err
	}
	return c.print(rec, [2]string{"member", rec.ID}, [2]string{"name", rec.Name}, [2]string{"role", string(rec.Role)},
		[2]string{"status", string(rec.Status)}, [2]string{"authority", authority(rec)})
}
