// The vendor publishes no client of its bridge but the bridge itself: what it answers, the fake
// must answer. Below it stands a stand-in for its containers, in which commands really run.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import fs from 'node:fs'
import { register } from 'node:module'
import os from 'node:os'
import path from 'node:path'

const url = process.env.FAKE_URL
const KEY = 'cf_0001'
const root = fs.mkdtempSync(path.join(os.tmpdir(), 'sandgate-twin-'))

// What the platform brings.
const platform = 'data:text/javascript,' + encodeURIComponent(`
  export class DurableObject {}
  export class WorkerEntrypoint {}
  export class RpcTarget {}
  export const env = { Sandbox: {}, WarmPool: {}, SANDBOX_API_KEY: 'x' }
  export const tracing = undefined`)
// Its bundler also finds modules that are named without their ending.
register('data:text/javascript,' + encodeURIComponent(`
  export const resolve = (name, context, next) => {
    if (name === 'cloudflare:workers') return { url: ${JSON.stringify(platform)}, shortCircuit: true }
    return next(name, context).catch(() => next(name + '.js', context))
  }`))
console.log = () => {}
const { bridge } = await import('@cloudflare/sandbox/bridge')

class Container {
  constructor(id) {
    this.home = path.join(root, id)
    fs.mkdirSync(this.home, { recursive: true })
  }
  place(file) { return file.replace('/workspace', this.home) }
  execWithSessionToken(command, session, options) { return this.exec(command, options) }
  exec(command, options = {}) {
    return new Promise((resolve) => {
      const child = spawn('/bin/bash', ['-c', command.replaceAll('/workspace', this.home)],
        { cwd: this.place(options.cwd ?? '/workspace'), stdio: ['ignore', 'pipe', 'pipe'] })
      for (const name of ['stdout', 'stderr'])
        child[name].setEncoding('utf8').on('data', (text) => options.onOutput?.(name, text))
      child.on('close', (code, signal) => {
        const result = { exitCode: code ?? 128 + os.constants.signals[signal], stdout: '', stderr: '' }
        options.onComplete?.(result)
        resolve(result)
      })
    })
  }
  async writeFile(file, content) { fs.writeFileSync(this.place(file), Buffer.from(content, 'base64')) }
  async readFileStream(file) {
    if (!fs.existsSync(this.place(file)))
      throw Object.assign(new Error('no such file'), { code: 'FILE_NOT_FOUND' })
    const bytes = fs.readFileSync(this.place(file))
    const events = [
      { type: 'metadata', mimeType: 'application/octet-stream', size: bytes.length, isBinary: true,
        encoding: 'base64' },
      { type: 'chunk', data: bytes.toString('base64') },
      { type: 'complete', bytesRead: bytes.length }]
    return new Blob(events.map((one) => `data: ${JSON.stringify(one)}\n\n`)).stream()
  }
  async destroy() { fs.rmSync(this.home, { recursive: true }) }
  async configure() {}
}

const containers = new Map(), assigned = new Map()
const pool = {
  async configure() {},
  async getContainer(id) {
    if (!assigned.has(id)) assigned.set(id, 'c' + containers.size)
    const name = assigned.get(id)
    if (!containers.has(name)) containers.set(name, new Container(name))
    return name
  },
  async lookupContainer(id) { return assigned.get(id) ?? null },
  async reportStopped(name) { for (const [id, one] of assigned) if (one === name) assigned.delete(id) },
  async getStats() {
    return { warm: 0, assigned: assigned.size, total: assigned.size, maxInstances: null, config: {
      warmTarget: 0, refreshInterval: 10000, maxInstances: 0, scaleBatchSize: 5 } }
  }
}
const named = (get) => ({ idFromName: (name) => name, get })
const env = { SANDBOX_API_KEY: KEY, WarmPool: named(() => pool),
  Sandbox: named((name) => containers.get(name)) }
const worker = bridge({})

const asked = async (method, where, { body, key = KEY, type } = {}) => {
  const headers = { ...(key && { Authorization: 'Bearer ' + key }), ...(type && { 'Content-Type': type }) }
  const answers = []
  for (const send of [
    () => worker.fetch(new Request('http://bridge' + where, { method, headers, body }), env, {}),
    () => fetch(url + where, { method, headers, body })]) {
    const answer = await send()
    answers.push({ status: answer.status, type: answer.headers.get('content-type'),
      bytes: Buffer.from(await answer.arrayBuffer()) })
  }
  return answers
}
// Both answer alike, byte for byte; the answer.
const alike = async (...request) => {
  const [theirs, ours] = await asked(...request)
  const shown = ({ status, type, bytes }) => {
    const json = type?.startsWith('application/json')
    return { status, type: type?.split(';')[0], body: json ? JSON.parse(bytes) : bytes.toString('latin1') }
  }
  assert.deepEqual(shown(ours), shown(theirs), request.join(' ').slice(0, 200))
  return theirs
}
// The output and the end of a command, however it was cut into events.
const ran = (answer) => {
  const told = { stdout: '', stderr: '' }
  for (const block of answer.bytes.toString().split('\n\n').slice(0, -1)) {
    const [, name, data] = block.match(/^event: (\w+)\ndata: ([^\n]*)$/)
    if (name in told) told[name] += Buffer.from(data, 'base64')
    else told[name] = JSON.parse(data)
  }
  return { status: answer.status, type: answer.type, ...told }
}
const exec = (body) => ['POST', '/v1/sandbox/abc/exec',
  { body: typeof body === 'string' ? body : JSON.stringify(body), type: 'application/json' }]

try {
  await alike('GET', '/health', { key: '' })
  await alike('POST', '/v1/sandbox', { key: '' })
  await alike('GET', '/v1/sandbox/abc/running', { key: 'other' })
  await alike('GET', '/v1/sandbox/sb_1/running')
  await alike('GET', '/v1/sandbox/abc/running')
  await alike('GET', '/v1/pool/stats')
  for (const made of await asked('POST', '/v1/sandbox'))
    assert.match(JSON.parse(made.bytes).id, /^[a-z2-7]{26}$/)

  for (const body of ['{x', { argv: [] }, { argv: 'ls' }, { argv: ['ls'], cwd: '/etc' },
    { argv: ['ls'], cwd: '../etc' }]) await alike(...exec(body))
  const script = 'printf %s "$1"; echo "it\'s" >&2; pwd | grep -c .; exit 7'
  for (const body of [{ argv: ['sh', '-c', script, 'sh', 'a b\n\t\\c $HOME \'q\''], cwd: '/workspace' },
    { argv: ['sh', '-c', 'kill -9 $$'] }, { argv: ['true'], timeout_ms: 5000 },
    { argv: ['sh', '-c', 'i=0; while [ $i -lt 3000 ]; do echo $i; i=$((i+1)); done; printf äöü'] }]) {
    const [theirs, ours] = (await asked(...exec(body))).map(ran)
    assert.deepEqual(ours, theirs)
  }
  for (const answer of await asked(...exec({ argv: ['/no/such/program'] })))
    assert.deepEqual(ran(answer).exit, { exit_code: 127 })

  const bytes = Buffer.from(Uint8Array.from({ length: 256 }, (_, i) => i))
  const type = 'application/octet-stream'
  await alike('PUT', '/v1/sandbox/abc/file/workspace/.data', { body: bytes, type })
  assert.deepEqual((await alike('GET', '/v1/sandbox/abc/file/workspace/.data')).bytes, bytes)
  await alike('GET', '/v1/sandbox/abc/file/workspace/missing')
  await alike('GET', '/v1/sandbox/abc/file/etc/passwd')
  await alike('PUT', '/v1/sandbox/abc/file/etc/x', { body: bytes, type })
  await alike('PUT', '/v1/sandbox/abc/file/workspace/large',
    { body: Buffer.alloc((32 << 20) + 1), type })

  await alike('DELETE', '/v1/sandbox/abc')
  await alike('DELETE', '/v1/sandbox/abc')
  // Its id goes on, with another container.
  await alike('GET', '/v1/sandbox/abc/file/workspace/.data')
  await alike('DELETE', '/v1/sandbox/abc')
} finally {
  fs.rmSync(root, { recursive: true, force: true })
}
assert.deepEqual((await (await fetch(url + '/_fake/state')).json()).boxes, [])
console.info('the bridge and the fake agree')
process.exit(0)
