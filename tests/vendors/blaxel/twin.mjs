// What the published client can do against the fake, each answer checked.
import assert from 'node:assert/strict'
import { SandboxInstance, Snapshot } from '@blaxel/core'

const url = process.env.FAKE_URL
const state = async () => (await fetch(url + '/_fake/state')).json()
const fault = (body) => fetch(url + '/_fake/faults', { method: 'POST', body: JSON.stringify(body) })

const box = await SandboxInstance.create({ name: 'sb1', image: 'tools', memory: 4096, ttl: '600s',
  labels: { run: 'b' }, envs: [{ name: 'FROM_CREATE', value: 'yes' }] })
try {
  assert.equal(box.status, 'DEPLOYED')
  assert.equal((await SandboxInstance.get('sb1')).metadata.labels.run, 'b')
  const listed = await (await SandboxInstance.list({ limit: 1 })).autoPagingToArray({ limit: 10 })
  assert.deepEqual(listed.map((one) => one.metadata.name), ['sb1'])
  const longer = await SandboxInstance.updateTtl('sb1', '2h')
  assert.equal(longer.spec.runtime.ttl, '2h')
  assert.deepEqual(longer.spec.runtime.envs, [{ name: 'FROM_CREATE', value: 'yes' }])

  const ran = await box.process.exec({ waitForCompletion: true,
    command: 'echo $FROM_CREATE; echo err >&2; exit 7' })
  assert.deepEqual([ran.exitCode, ran.status, ran.stdout, ran.stderr],
    [7, 'failed', 'yes\n', 'err\n'])

  let out = ''
  const streamed = await box.process.exec({ command: 'for i in 1 2 3; do echo $i; sleep 0.05; done; exit 3',
    waitForCompletion: true, onStdout: (text) => { out += text } })
  assert.deepEqual([out, streamed.exitCode], ['1\n2\n3\n', 3])

  const cat = await box.process.exec({ name: 'cat', command: 'cat', stdin: true, keepAlive: true, timeout: 0 })
  assert.equal(cat.stdin, true)
  let said = ''
  const logs = box.process.streamLogs('cat', { onStdout: (text) => { said += text } })
  await box.process.writeStdin('cat', 'one\ntwo\n')
  await box.process.closeStdin('cat')
  await logs.wait()
  assert.equal(said, 'onetwo')
  const ended = await box.process.wait('cat', { interval: 20 })
  assert.deepEqual([ended.status, ended.exitCode, ended.stdout], ['completed', 0, 'one\ntwo\n'])
  assert.ok((await box.process.list()).some((one) => one.name === 'cat' && one.keepAlive))
  await assert.rejects(box.process.writeStdin('cat', 'late'))
  await assert.rejects(box.process.get('none'))

  const bytes = Buffer.from(Uint8Array.from({ length: 256 }, (_, i) => i))
  await box.fs.writeBinary('deep/data.bin', bytes)
  assert.deepEqual(Buffer.from(await (await box.fs.readBinary('deep/data.bin')).arrayBuffer()), bytes)
  const large = Buffer.alloc(6 << 20, 'z')
  await box.fs.writeBinary('large', large)
  assert.deepEqual(Buffer.from(await (await box.fs.readBinary('large')).arrayBuffer()), large)
  await box.fs.write('note', 'text')
  assert.equal(await box.fs.read('note'), 'text')
  assert.deepEqual((await box.fs.ls('deep')).files.map((one) => one.name), ['data.bin'])
  await box.fs.rm('note')
  await assert.rejects(box.fs.read('note'))

  assert.equal((await SandboxInstance.archive('sb1', { interval: 50 })).status, 'ARCHIVED')
  assert.equal((await SandboxInstance.unarchive('sb1', { interval: 50 })).status, 'DEPLOYED')
  assert.equal((await box.fs.ls('deep')).files.length, 1)

  const taken = await box.snapshots.create('sn1')
  assert.equal(taken.status, 'pending')
  while ((await Snapshot.get(taken.id)).status !== 'ready') await new Promise((done) => setTimeout(done, 20))
  const kept = await (await Snapshot.list({ q: 'sn1' })).autoPagingToArray({ limit: 10 })
  assert.deepEqual(kept.map((one) => one.id), [taken.id])
  assert.equal((await taken.fork('sb2')).name, 'sb2')
  assert.equal((await (await SandboxInstance.get('sb2')).fs.ls('deep')).files.length, 1)
  await SandboxInstance.delete('sb2')
  await taken.delete()
  await assert.rejects(Snapshot.get(taken.id))

  await assert.rejects(SandboxInstance.create({ name: 'sb1', image: 'tools' }),
    (error) => error.code === 'SANDBOX_ALREADY_EXISTS')
  assert.equal((await SandboxInstance.createIfNotExists({ name: 'sb1', image: 'tools' })).metadata.name, 'sb1')
  await assert.rejects(SandboxInstance.create({ name: 'sb2', image: 'none' }),
    (error) => error.code === 'INVALID_IMAGE')
  await fault({ match: 'POST /v0/sandboxes$', kind: 'status', status: 403, times: 1 })
  await assert.rejects(SandboxInstance.create({ name: 'sb2', image: 'tools' }))
} finally {
  assert.equal((await SandboxInstance.delete('sb1')).status, 'TERMINATED')
}
assert.deepEqual((await state()).boxes, [])
console.log('the client and the fake agree')
process.exit(0)
