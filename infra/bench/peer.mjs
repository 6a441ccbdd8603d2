// The peer of the throughput benchmark: a stateless server as the TypeScript
// SDK's documentation shows one (express, a new server and transport for each
// request), that answers the same read out of the same table. It answers in JSON
// and not as an event stream, as ours does. It checks no token, keeps no audit
// event and counts no rate.
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'

// The packages lie in .local/bench, not beside this file.
const require = createRequire(pathToFileURL(process.env.BENCH_MODULES + '/').href)
const load = (name) => import(pathToFileURL(require.resolve(name)).href)

const { McpServer, ResourceTemplate } = await load('@modelcontextprotocol/sdk/server/mcp.js')
const { StreamableHTTPServerTransport } = await load('@modelcontextprotocol/sdk/server/streamableHttp.js')
const { createMcpExpressApp } = await load('@modelcontextprotocol/sdk/server/express.js')
const { DynamoDBClient, GetItemCommand } = await load('@aws-sdk/client-dynamodb')

const { DYNAMODB_ENDPOINT, TABLE_NAME, ROW_PK, ROW_SK } = process.env
const db = new DynamoDBClient({
    region: 'us-east-1', endpoint: DYNAMODB_ENDPOINT, credentials: { accessKeyId: 'bench', secretAccessKey: 'bench' }
})

const transaction = async (uri) => {
    const { Item } = await db.send(new GetItemCommand({
        TableName: TABLE_NAME, Key: { pk: { S: ROW_PK }, sk: { S: ROW_SK } }, ConsistentRead: true
    }))
    return { contents: [{ uri: uri.href, mimeType: 'application/json', text: Item.body.S }] }
}

function newServer() {
    const server = new McpServer({ name: 'peer', version: '1.0.0' })
    server.registerResource('Transaction', new ResourceTemplate('brain://ledger/transactions/{transaction_id}', { list: undefined }),
        { description: 'Transaction row.', mimeType: 'application/json' }, transaction)
    return server
}

const app = createMcpExpressApp()
app.post('/mcp', async (req, res) => {
    const server = newServer()
    const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined, enableJsonResponse: true })
    res.on('close', () => {
        transport.close()
        server.close()
    })
    await server.connect(transport)
    await transport.handleRequest(req, res, req.body)
})
const listener = app.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${listener.address().port}/mcp`))
