// What the published client can do against the fake, each answer checked.
import assert from 'node:assert/strict'
import { AlreadyExistsError, ModalClient, NotFoundError } from 'modal'

const url = process.env.FAKE_URL
const state = async () => (await fetch(url + '/_fake/state')).json()
const fault = (body) => fetch(url + '/_fake/faults', { method: 'POST', body: JSON.stringify(body) })

const client = new ModalClient()
const app = await client.apps.fromName('sandgate', { createIfMissing: true })
const image = client.images.fromRegistry('debian:12-slim')
const box = await client.sandboxes.create(app, image, { name: 'sb1', tags: { sandgate_id: 'sb1' },
  env: { FROM_CREATE: 'yes' }, cpu: 0.5, cpuLimit: 0.5, memoryMiB: 512, memoryLimitMiB: 512,
  timeoutMs: 600_000, blockNetwork: true, runtime: 'gvisor', regions: ['eu'] })
const run = async (argv, options = {}) => {
  const process = await box.exec(argv, options)
  const [out, err, code] = await Promise.all([
    process.stdout.readText(), process.stderr.readText(), process.wait()])
  return [code, out, err]
}
try {
  assert.deepEqual((await state()).created, 1)
  assert.equal(await box.poll(), null)
  assert.deepEqual(await box.getTags(), { sandgate_id: 'sb1' })
  assert.equal((await client.sandboxes.fromName('sandgate', 'sb1')).sandboxId, box.sandboxId)
  await assert.rejects(client.sandboxes.create(app, image, { name: 'sb1' }), AlreadyExistsError)

  assert.deepEqual(await run(['sh', '-c', 'echo $FROM_CREATE; echo err >&2; exit 7']),
    [7, 'yes\n', 'err\n'])
  assert.deepEqual(await run(['sh', '-c', 'kill -9 $$']), [137, '', ''])
  assert.deepEqual(await run(['sh', '-c', 'echo $A; pwd'], { env: { A: 'b c' }, workdir: '/usr' }),
    [0, 'b c\n/usr\n', ''])
  const terminal = await box.exec(['sh', '-c', 'stty size'], { pty: true })
  assert.equal((await terminal.stdout.readText()).trim(), '24 80')

  // Bytes both ways, in pieces with their offsets.
  const bytes = Uint8Array.from({ length: 256 }, (_, i) => i)
  const cat = await box.exec(['sh', '-c', 'cat > data.bin; cat data.bin'], { mode: 'binary' })
  await cat.stdin.writeBytes(bytes.subarray(0, 100))
  await cat.stdin.writeBytes(bytes.subarray(100))
  await cat.stdin.close()
  assert.deepEqual(await cat.stdout.readBytes(), bytes)
  assert.equal(await cat.wait(), 0)

  // More pages than one.
  const more = []
  for (const name of ['a', 'b', 'c', 'd'])
    more.push(await client.sandboxes.create(app, image, { name, tags: { sandgate_id: name } }))
  const listed = []
  for await (const one of client.sandboxes.list({ appId: app.appId })) listed.push(one.sandboxId)
  assert.deepEqual(listed.sort(), [box, ...more].map((one) => one.sandboxId).sort())
  const tagged = []
  for await (const one of client.sandboxes.list({ appId: app.appId, tags: { sandgate_id: 'c' } }))
    tagged.push(one.sandboxId)
  assert.deepEqual(tagged, [more[2].sandboxId])
  for (const one of more) assert.equal(await one.terminate({ wait: true }), 137)

  // The disk as an image with a name.
  await run(['sh', '-c', 'echo then > note'])
  const taken = await box.snapshotFilesystem({ ttlMs: null })
  await taken.publish('sandgate:sn1')
  const found = await client.images.fromName('sandgate:sn1')
  assert.equal(found.imageId, taken.imageId)
  const restored = await client.sandboxes.create(app, found, {})
  const note = await restored.exec(['cat', 'note'])
  assert.equal(await note.stdout.readText(), 'then\n')
  await restored.terminate()
  await client.images.delete(taken.imageId)
  await assert.rejects(client.images.fromId(taken.imageId), NotFoundError)
  await assert.rejects(client.images.fromName('sandgate:sn2'), NotFoundError)

  // The client waits as long as it is told, and comes again.
  await fault({ match: 'POST .*/SandboxCreateV2$', kind: 'status', status: 429,
    headers: { 'Retry-After': '1' }, times: 1 })
  const begin = Date.now()
  const late = await client.sandboxes.create(app, image, {})
  assert.ok(Date.now() - begin >= 1000)
  await late.terminate()
  await assert.rejects(client.sandboxes.create(app, client.images.fromRegistry('none:1'), {}),
    /failed/)
} finally {
  await box.terminate()
}
assert.equal(await box.poll(), 137)
assert.deepEqual((await state()).boxes, [])
console.log('the client and the fake agree')
process.exit(0)
