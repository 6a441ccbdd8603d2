package main

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/config"

	"github.com/robotmoney/mcp/infra/contracts"
	"github.com/robotmoney/mcp/infra/local/stackfile"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/platform/awshttp"
	"github.com/robotmoney/mcp/shared/platform/kms"
)

// registryDeploy puts the registry of agents on a chain. It comes before the first
// deployment: the template wants its address.
func registryDeploy(ctx context.Context, c *call) error {
	admin := c.flags.String("admin", "", "account that names tenants' first signers; the sender's when empty")
	if err := c.parse(0); err != nil {
		return err
	}
	return c.deploy(ctx, contracts.Registry, "RegistryAddress", func(sender identity.Address) (identity.Address, error) {
		return given("--admin", *admin, sender)
	})
}

// anchorDeploy puts the contract of anchors on a chain. Only its publisher can
// write to it: the key that the template makes.
func anchorDeploy(ctx context.Context, c *call) error {
	publisher := c.flags.String("publisher", "", "account that publishes")
	keyID := c.flags.String("publisher-key", "", "id of the key in KMS that publishes, in its place")
	if err := c.parse(0); err != nil {
		return err
	}
	if (*publisher == "") == (*keyID == "") {
		return usageError("want --publisher or --publisher-key, one of them")
	}
	return c.deploy(ctx, contracts.Anchor, "AnchorAddress", func(identity.Address) (identity.Address, error) {
		if *keyID != "" {
			return kmsAccount(ctx, *keyID)
		}
		return given("--publisher", *publisher, identity.Address{})
	})
}

func given(flag, text string, otherwise identity.Address) (identity.Address, error) {
	if text == "" {
		return otherwise, nil
	}
	account, err := identity.ParseAddress(text)
	if err != nil {
		return account, usageError(flag + ": " + err.Error())
	}
	return account, nil
}

// keyAccount prints the account of a key, for whoever sends it something.
func keyAccount(ctx context.Context, c *call) error {
	if err := c.parse(1); err != nil {
		return err
	}
	account, err := kmsAccount(ctx, c.args[0])
	if err != nil {
		return err
	}
	return c.print(map[string]any{"key": c.args[0], "account": account}, [2]string{"account", account.String()})
}

// kmsAccount is the account on the chain of a key that never leaves KMS.
func kmsAccount(ctx context.Context, keyID string) (identity.Address, error) {
	cloud, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return identity.Address{}, err
	}
	service := &kms.Service{Region: cloud.Region, HTTP: awshttp.New(time.Minute), Now: time.Now, Credentials: cloud.Credentials}
	signer, err := service.Open(ctx, keyID)
	if err != nil {
		return identity.Address{}, fmt.Errorf("read the public key of %s: %w", keyID, err)
	}
	return signer.Address(), nil
}

// deploy sends the creation of a contract and waits for it. Nothing but a node and
// a key that pays is needed.
func (c *call) deploy(ctx context.Context, contract contracts.Contract, parameter string, owner func(sender identity.Address) (identity.Address, error)) error {
	stack := stackfile.Stack{RPCURL: c.env("RPC_URLS")}
	t := &target{local: stack.RPCURL == "", env: c.env}
	var err error
	if t.local {
		stack, err = stackfile.Read(".")
	} else if stack.ChainID, err = strconv.ParseUint(c.env("CHAIN_ID"), 10, 64); err != nil {
		err = usageError("CHAIN_ID: want the chain's number, such as 84532")
	}
	if err != nil {
		return err
	}
	if t.client, err = dial(stack); err != nil {
		return err
	}
	sender, err := t.sender()
	if err != nil {
		return err
	}
	account, err := owner(sender.From())
	if err != nil {
		return err
	}
	address, receipt, err := sender.Deploy(ctx, contract.DeployData(account))
	if err != nil {
		return fmt.Errorf("deploy %s: %w", contract.Name, err)
	}
	return c.print(map[string]any{"contract": contract.Name, "address": address.String(), "owner": account.String(), "chain_id": stack.ChainID, "block": receipt.Block},
		[2]string{parameter, address.String()}, [2]string{"of", account.String()}, [2]string{"chain", fmt.Sprint(stack.ChainID)})
}
