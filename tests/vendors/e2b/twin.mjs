// What the published client can do against the fake, each answer checked.
import assert from 'node:assert/strict'
import { AuthenticationError, CommandExitError, NotFoundError, RateLimitError, Sandbox } from 'e2b'

const url = process.env.FAKE_URL
const fault = (body) => fetch(url + '/_fake/faults', { method: 'POST', body: JSON.stringify(body) })
const noFaults = () => fetch(url + '/_fake/faults', { method: 'DELETE' })
const state = async () => (await fetch(url + '/_fake/state')).json()

const box = await Sandbox.create('base', {
  timeoutMs: 60_000, metadata: { run: 'b c', sandgate_id: 'sb1' }, envs: { FROM_CREATE: 'yes' } })
try {
  const info = await box.getInfo()
  assert.equal(info.metadata.run, 'b c')
  assert.equal(info.state, 'running')
  assert.equal(await box.isRunning(), true)

  const found = await Sandbox.list({ query: { metadata: { run: 'b c' } } }).nextItems()
  assert.deepEqual(found.map((one) => one.sandboxId), [box.sandboxId])
  const others = await Sandbox.list({ query: { metadata: { run: 'x' } } }).nextItems()
  assert.equal(others.length, 0)

  const both = await box.commands.run('echo out; echo err >&2; echo $FROM_CREATE')
  assert.deepEqual([both.exitCode, both.stdout, both.stderr], [0, 'out\nyes\n', 'err\n'])
  await assert.rejects(box.commands.run('exit 7'), (error) =>
    error instanceof CommandExitError && error.exitCode === 7)

  const cat = await box.commands.run('cat', { background: true, stdin: true })
  assert.ok((await box.commands.list()).some((one) => one.pid === cat.pid))
  await box.commands.sendStdin(cat.pid, 'typed\n')
  await box.commands.closeStdin(cat.pid)
  assert.equal((await cat.wait()).stdout, 'typed\n')
  const sleeper = await box.commands.run('sleep 600', { background: true })
  assert.equal(await sleeper.kill(), true)
  await assert.rejects(sleeper.wait())
  assert.equal(await box.commands.kill(999999999), false)

  let typed = ''
  const pty = await box.pty.create({ cols: 80, rows: 24, onData: (data) => {
    typed += Buffer.from(data).toString() } })
  await box.pty.sendInput(pty.pid, Buffer.from('stty size; exit\n'))
  await pty.wait()
  assert.match(typed, /24 80/)

  const bytes = Uint8Array.from({ length: 256 }, (_, i) => i)
  await box.files.write('deep/data.bin', bytes.buffer)
  assert.deepEqual(await box.files.read('deep/data.bin', { format: 'bytes' }), bytes)
  await box.files.write('note', 'text')
  assert.equal(await box.files.read('note'), 'text')
  assert.equal(await box.files.exists('note'), true)
  assert.equal(await box.files.makeDir('folder'), true)
  assert.equal(await box.files.makeDir('folder'), false)
  await box.files.rename('note', 'folder/moved')
  assert.deepEqual((await box.files.list('folder')).map((one) => one.name), ['moved'])
  assert.equal((await box.files.getInfo('folder/moved')).size, 4)
  await box.files.remove('folder')
  assert.equal(await box.files.exists('folder'), false)
  await assert.rejects(box.files.read('missing'), NotFoundError)

  await box.setTimeout(120_000)
  assert.ok((await box.getInfo()).endAt - Date.now() > 100_000)
  const snapshot = await box.createSnapshot()
  const twin = await Sandbox.create(snapshot.snapshotId)
  assert.equal((await twin.files.read('deep/data.bin', { format: 'bytes' })).length, 256)
  await twin.kill()
  await box.pause()
  assert.equal(await box.isRunning(), false)
  await box.connect()
  assert.equal((await box.commands.run('echo again')).stdout, 'again\n')

  await fault({ match: 'POST /sandboxes|POST /v2/sandboxes', kind: 'status', status: 429 })
  await assert.rejects(Sandbox.create('base'), RateLimitError)
  await noFaults()
  await assert.rejects(Sandbox.create('base', { apiKey: 'e2b_0' }), AuthenticationError)
} finally {
  assert.equal(await box.kill(), true)
}
assert.equal(await Sandbox.kill(box.sandboxId), false)
assert.deepEqual((await state()).boxes, [])
console.log('the client and the fake agree')
