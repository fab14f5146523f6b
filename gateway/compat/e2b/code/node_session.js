// Runs code as node's own prompt does: names live on, `await` may stand anywhere, the last value is
// the result. Requests come from descriptor 3, what comes of them goes to 4, in lines of JSON.
const fs = require('fs')
const { stripTypeScriptTypes } = require('module') // from 22.13 on
const repl = require('repl')
const { PassThrough } = require('stream')
const { inspect } = require('util')

const typed = process.argv[1] === 'typescript'
const tell = (event) => fs.writeSync(4, JSON.stringify(event) + '\n')
const server = repl.start({
  prompt: '', input: new PassThrough(), output: new PassThrough(), terminal: false,
  useGlobal: true, breakEvalOnSigint: true,
})

function report(error) {
  const known = error instanceof Error || (error && typeof error.stack === 'string')
  const name = known ? String(error.name) : 'Error'
  const value = known ? String(error.message) : inspect(error)
  tell({ type: 'error', name, value, traceback: known ? String(error.stack) : value })
}

function show(value) {
  if (value === undefined) return
  const shown = { type: 'result', is_main_result: true, text: typeof value === 'string' ? value : inspect(value) }
  if (value && typeof value === 'object') {
    try {
      const json = JSON.parse(JSON.stringify(value))
      if (json && !Array.isArray(json)) shown.json = json
    } catch { /* it has no JSON */ }
  }
  tell(shown)
}

// The prompt tells errors to its domain, unless the code awaits something.
let failed = null
const tellElsewhere = (error) => process.stderr.write(String((error && error.stack) || error) + '\n')
const onError = (error) => (failed ? failed(error) : tellElsewhere(error))
if (server._domain) server._domain.removeAllListeners('error').on('error', onError)

const run = (code) => new Promise((resolve, reject) => {
  failed = reject
  server.eval(code + '\n', server.context, 'cell', (error, value) => (error ? reject(error) : resolve(value)))
})

async function execute({ code, env_vars: given }) {
  const before = Object.fromEntries(Object.keys(given).map((name) => [name, process.env[name]]))
  Object.assign(process.env, given)
  try {
    show(await run(typed && stripTypeScriptTypes ? stripTypeScriptTypes(code) : code))
  } catch (error) {
    report(error)
  }
  failed = null
  for (const [name, value] of Object.entries(before)) {
    if (value === undefined) delete process.env[name]
    else process.env[name] = value
  }
  tell({ type: 'done' })
}

// A rejection that nobody awaits, or an error of a timer, is no reason to lose the variables.
process.on('uncaughtException', tellElsewhere)
process.on('unhandledRejection', tellElsewhere)
process.on('SIGINT', () => {})

const lines = require('readline').createInterface({ input: fs.createReadStream(null, { fd: 3 }) })
lines.on('line', (line) => execute(JSON.parse(line)))
lines.on('close', () => process.exit())
