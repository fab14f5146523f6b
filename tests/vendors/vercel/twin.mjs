// What the published client can do against the fake, each answer checked.
import assert from 'node:assert/strict'
import { WebSocket } from 'undici'

const url = process.env.FAKE_URL
const plain = globalThis.fetch
const state = async () => (await plain(url + '/_fake/state')).json()
const fault = (body) => plain(url + '/_fake/faults', { method: 'POST', body: JSON.stringify(body) })
const collected = async (stream) => {
  const pieces = []
  for await (const piece of stream) pieces.push(piece)
  return Buffer.concat(pieces)
}

// The client has no setting for the address, so what it asks is asked of the fake. Its agent is its
// own and does not fit Node's.
const fetch = (address, { dispatcher, ...options }) =>
  plain(address.replace('https://vercel.com/api', url), options)
globalThis.fetch = fetch
const { Sandbox, Snapshot } = await import('@vercel/sandbox')
const account = { token: 'vca_0001', teamId: 'team_1', projectId: 'prj_1', fetch }

const box = await Sandbox.create({ ...account, name: 'sb1', timeout: 600000, env: { FROM_CREATE: 'yes' },
  tags: { sandgate_id: 'sb1' }, resources: { vcpus: 1 }, networkPolicy: 'deny-all',
  snapshotExpiration: 86400000 })
try {
  assert.equal(box.name, 'sb1')
  assert.equal(box.status, 'running')
  await assert.rejects(Sandbox.create({ ...account, name: 'sb1' }), /exists/)
  assert.equal((await Sandbox.get({ ...account, name: 'sb1', resume: false })).tags.sandgate_id, 'sb1')
  const listed = await Sandbox.list({ ...account, limit: 1, tags: { sandgate_id: 'sb1' } })
  assert.deepEqual((await listed.toArray()).map((one) => one.name), ['sb1'])

  const ran = await box.runCommand({ cmd: 'sh', args: ['-c', 'echo $FROM_CREATE$A; echo err >&2; exit 7'],
    env: { A: '2' } })
  assert.deepEqual([ran.exitCode, await ran.stdout(), await ran.stderr()], [7, 'yes2\n', 'err\n'])
  await assert.rejects(box.runCommand('/no/such/program'), { json: { error: {
    code: 'executable_not_found', message: 'executable_not_found' } } })

  const slow = await box.runCommand({ cmd: 'sh', detached: true,
    args: ['-c', 'trap "echo bye; exit 3" TERM; echo ready; while :; do sleep 0.05; done'] })
  let out = ''
  for await (const log of slow.logs()) {
    out += log.data
    if (log.data === 'ready\n') await slow.kill('SIGTERM')
  }
  assert.equal(out, 'ready\nbye\n')
  assert.equal((await slow.wait()).exitCode, 3)

  const bytes = Buffer.from(Uint8Array.from({ length: 256 }, (_, i) => i))
  await box.mkDir('deep')
  await box.writeFiles([{ path: 'deep/data.bin', content: bytes, mode: 0o600 }])
  assert.deepEqual(await collected(await box.readFile({ path: 'deep/data.bin' })), bytes)
  assert.equal(await box.readFile({ path: 'missing' }), null)

  const terminal = await box.openInteractive()
  const socket = new WebSocket(terminal.url + '?token=' + terminal.token)
  socket.binaryType = 'arraybuffer'
  const seen = new Promise((resolve) => {
    let text = ''
    socket.onmessage = ({ data }) => {
      if (typeof data === 'string') return resolve([text, JSON.parse(data)])
      text += Buffer.from(data)
      if (text.includes('go')) socket.send(Buffer.from('there\n'))
    }
  })
  await new Promise((resolve) => { socket.onopen = resolve })
  socket.send(JSON.stringify({ type: 'start', command: 'sh', args: ['-c', 'echo go; read a; stty size; exit 4'],
    env: ['TERM=xterm'], cwd: box.cwd, cols: 100, rows: 30 }))
  const [text, exit] = await seen
  assert.match(text, /30 100/)
  assert.deepEqual(exit, { type: 'exit', code: 4 })

  await box.extendTimeout(60000)
  await box.update({ tags: { sandgate_id: 'sb1', extra: 'x' } })
  assert.equal(box.tags.extra, 'x')
  const first = box.currentSession().sessionId
  const taken = await box.snapshot({ expiration: 0 })
  const kept = await Snapshot.list({ ...account, name: 'sb1' })
  assert.deepEqual((await kept.toArray()).map((one) => [one.id, one.sourceSessionId]),
    [[taken.snapshotId, first]])
  // The session ended with it; the client resumes in a new one.
  assert.equal((await box.runCommand('cat', ['deep/data.bin'])).exitCode, 0)
  assert.notEqual(box.currentSession().sessionId, first)
  await box.stop()
  assert.equal((await Sandbox.get({ ...account, name: 'sb1', resume: false })).status, 'stopped')
  assert.equal((await Sandbox.get({ ...account, name: 'sb1', resume: true })).status, 'running')

  const second = await Sandbox.create({ ...account, name: 'sb2',
    source: { type: 'snapshot', snapshotId: taken.snapshotId } })
  assert.deepEqual(await collected(await second.readFile({ path: 'deep/data.bin' })), bytes)
  await second.delete()
  await taken.delete()

  await fault({ match: 'POST /v3/sandboxes$', kind: 'status', status: 402, times: 1 })
  await assert.rejects(Sandbox.create(account), /402/)
  await assert.rejects(Sandbox.get({ ...account, name: 'none' }), /404/)
} finally {
  await (await Sandbox.get({ ...account, name: 'sb1', resume: false })).delete()
}
assert.deepEqual((await state()).boxes, [])
console.log('the client and the fake agree')
process.exit(0)
