package stack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/robotmoney/mcp/infra/contracts"
	"github.com/robotmoney/mcp/infra/local/engine"
	"github.com/robotmoney/mcp/infra/local/stackfile"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/platform/chain"
	"github.com/robotmoney/mcp/shared/platform/chain/tx"
)

// deployed is where the contracts are, as the state folder keeps it.
type deployed struct {
	Registry chain.Address `json:"-"`
	Anchor   chain.Address `json:"-"`
}

// network is the local chain and those who write on it.
type network struct {
	client   *chain.Client
	sender   *tx.Transactor
	registry *chain.Registry
	deployed deployed
}

// openChain finds the contracts on the chain, or deploys them.
func openChain(ctx context.Context, url, state string) (*network, error) {
	client, err := chain.New(chain.Config{Endpoints: []string{url}, ChainID: engine.ChainID, Timeout: 5 * time.Second, Now: time.Now})
	if err != nil {
		return nil, err
	}
	key, err := tx.ParseLocalKey(stackfile.DeployerKey)
	if err != nil {
		return nil, fmt.Errorf("deployer key: %w", err)
	}
	sender, err := tx.NewTransactor(tx.Config{Client: client, Signer: key, Poll: 100 * time.Millisecond, Reverts: tx.RegistryReverts})
	if err != nil {
		return nil, err
	}
	n := &network{client: client, sender: sender}
	if err := n.contracts(ctx, filepath.Join(state, "contracts.json")); err != nil {
		return nil, err
	}
	n.registry = chain.NewRegistry(client, n.deployed.Registry)
	return n, nil
}

// contracts reads the addresses of an earlier run and believes them only if the
// code is there: the chain's state may be gone while the file is not.
func (n *network) contracts(ctx context.Context, path string) error {
	var kept map[string]string
	text, err := os.ReadFile(path)
	switch {
	case err == nil:
		if err := json.Unmarshal(text, &kept); err != nil {
			return fmt.Errorf("read %s: %w", path, err)
		}
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	publisher, err := tx.ParseLocalKey(stackfile.PublisherKey)
	if err != nil {
		return fmt.Errorf("publisher key: %w", err)
	}
	n.deployed.Registry, err = n.contract(ctx, contracts.Registry, kept["registry"], n.sender.From())
	if err != nil {
		return err
	}
	n.deployed.Anchor, err = n.contract(ctx, contracts.Anchor, kept["anchor"], publisher.Address())
	if err != nil {
		return err
	}
	text, err = json.Marshal(map[string]string{"registry": n.deployed.Registry.String(), "anchor": n.deployed.Anchor.String()})
	if err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o644)
}

func (n *network) contract(ctx context.Context, c contracts.Contract, kept string, owner chain.Address) (chain.Address, error) {
	if kept != "" {
		address, err := chain.ParseAddress(kept)
		if err != nil {
			return address, fmt.Errorf("address of %s: %w", c.Name, err)
		}
		var code []byte
		err = n.client.Read(ctx, func(result json.RawMessage) (err error) {
			code, err = chain.ParseData(result)
			return err
		}, "eth_getCode", address.String(), "latest")
		if err != nil {
			return address, fmt.Errorf("code of %s: %w", c.Name, err)
		}
		if c.IsRuntime(code) {
			return address, nil
		}
	}
	address, _, err := n.sender.Deploy(ctx, c.DeployData(owner))
	if err != nil {
		return address, fmt.Errorf("deploy %s: %w", c.Name, err)
	}
	return address, nil
}

// register puts an agent on the chain, signed by its tenant, unless it is there
// (also when it was revoked: a registration is never repeated).
func (n *network) register(ctx context.Context, rec identity.AgentRecord, address chain.Address) error {
	tenant, agent := identity.TenantHash(rec.TenantID), identity.AgentHash(rec.TenantID, rec.ID)
	reg, err := n.registry.Registration(ctx, agent)
	if err != nil || reg.RegisteredAt != 0 {
		return err
	}
	admin, signer, err := n.admin(rec.TenantID)
	if err != nil {
		return err
	}
	known, err := admin.IsTenantSigner(ctx, tenant, signer)
	if err != nil {
		return err
	}
	if !known {
		if _, err := admin.SetTenantSigner(ctx, tenant, signer, true); err != nil {
			return err
		}
	}
	_, err = admin.RegisterAgent(ctx, tx.Agent{
		ID: agent, Address: address, TenantID: tenant, ScopeHash: rec.Scopes.Hash(), BehaviorHash: identity.Keccak([]byte(rec.Name)),
	})
	return err
}

// admin changes the registry as a demo tenant's signer.
func (n *network) admin(tenant string) (*tx.RegistryAdmin, chain.Address, error) {
	signer, err := tx.ParseLocalKey(stackfile.SignerKeys[tenant])
	if err != nil {
		return nil, chain.Address{}, fmt.Errorf("signer of %s: %w", tenant, err)
	}
	return tx.NewRegistryAdmin(n.sender, n.deployed.Registry, signer), signer.Address(), nil
}
