// What the published client can do against the fake, each answer checked.
import assert from 'node:assert/strict'
import { ConnectionConfig, Sandbox, SandboxManager } from '@alibaba-group/opensandbox'

const url = new URL(process.env.FAKE_URL)
const state = async () => (await fetch(url.origin + '/_fake/state')).json()
const fault = (one) => fetch(url.origin + '/_fake/faults', { method: 'POST', body: JSON.stringify(one) })
const config = () => new ConnectionConfig({
  domain: url.host, protocol: 'http', apiKey: process.env.OPEN_SANDBOX_API_KEY })
const refused = (status) => (error) => error.statusCode === status

try {
  const box = await Sandbox.create({
    connectionConfig: config(), image: 'tools', timeoutSeconds: 300, env: { A: 'b' },
    metadata: { sandgate_id: 'sb1' }, resource: { cpu: '500m', memory: '256Mi' },
    networkPolicy: { defaultAction: 'deny', egress: [] } })
  const info = await box.getInfo()
  assert.equal(info.metadata.sandgate_id, 'sb1')
  const manager = SandboxManager.create({ connectionConfig: config() })
  const found = await manager.listSandboxInfos({ metadata: { sandgate_id: 'sb1' } })
  assert.deepEqual(found.items.map((one) => one.id), [box.id])
  assert.equal((await manager.listSandboxInfos({ metadata: { sandgate_id: 'sb2' } })).items.length, 0)
  await box.renew(600)

  const ran = await box.commands.run('echo $A; echo err >&2; exit 7')
  assert.equal(ran.logs.stdout.map((one) => one.text).join(), 'b')
  assert.equal(ran.logs.stderr.map((one) => one.text).join(), 'err')
  assert.equal(ran.exitCode, 7)
  assert.equal((await box.commands.run('true')).exitCode, 0)

  const bytes = Uint8Array.from({ length: 256 }, (_, i) => i)
  await box.files.writeFiles([{ path: 'deep/data', data: bytes, mode: 640 }])
  assert.deepEqual(await box.files.readBytes('deep/data'), bytes)
  assert.equal((await box.commands.run('stat -c %a deep/data')).logs.stdout[0].text, '640')
  await assert.rejects(box.files.readBytes('missing'), refused(404))

  while ((await box.getInfo()).status.state !== 'Running') await new Promise((r) => setTimeout(r, 50))
  await box.pause()
  assert.equal((await box.getInfo()).status.state, 'Paused')
  const back = await box.resume()
  assert.equal(await back.files.readFile('deep/data').then((text) => text.length > 0), true)

  const taken = await box.sandboxes.createSnapshot(box.id, { name: 'sn1' })
  while ((await box.sandboxes.getSnapshot(taken.id)).status.state !== 'Ready')
    await new Promise((r) => setTimeout(r, 50))
  const named = (await box.sandboxes.listSnapshots()).items.filter((one) => one.name === 'sn1')
  assert.deepEqual(named.map((one) => one.id), [taken.id])
  const copy = await Sandbox.create({ connectionConfig: config(), snapshotId: taken.id })
  assert.deepEqual(await copy.files.readBytes('deep/data'), bytes)
  await copy.kill()
  await box.sandboxes.deleteSnapshot(taken.id)

  await fault({ match: 'POST /v1/sandboxes$', kind: 'status', status: 429, times: 1 })
  await assert.rejects(Sandbox.create({ connectionConfig: config(), image: 'tools' }), refused(429))
  await assert.rejects(Sandbox.create({ connectionConfig: config(), image: 'none' }), refused(400))
  await box.kill()
  await assert.rejects(box.getInfo(), refused(404))
} catch (error) {
  console.error(error)
  process.exit(1)
}
assert.deepEqual((await state()).boxes, [])
console.log('the client and the fake agree')
process.exit(0)
