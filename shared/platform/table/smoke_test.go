package table_test
import ("testing";"github.com/robotmoney/mcp/shared/domain/key";"github.com/robotmoney/mcp/shared/domain/record")
func TestSmoke(t *testing.T){
 tb:=open()
 if err:=tb.Commit(t.Context(), record.Change{Puts: []record.Put{{Item: record.Item{Key:key.Key{PK:"a",SK:"b"}, Body: []byte("{}")}}}}); err!=nil {t.Fatal(err)}
}
