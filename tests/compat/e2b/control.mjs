// Creating, finding, keeping, pausing and ending sandboxes with the published client.
import assert from 'node:assert/strict'
import { AuthenticationError, NotFoundError, Sandbox, Template, Volume } from 'e2b'

const other = { apiKey: process.env.OTHER_KEY }
const box = await Sandbox.create('base', {
  timeoutMs: 60_000, metadata: { run: 'b c', sign: '100%' }, envs: { FROM_CREATE: 'yes' } })
try {
  const info = await box.getInfo()
  assert.deepEqual(info.metadata, { run: 'b c', sign: '100%' })
  assert.equal(info.state, 'running')
  assert.equal(info.templateId, 'base')
  assert.ok(info.endAt - Date.now() > 30_000 && info.endAt - Date.now() < 61_000)
  assert.equal(await box.isRunning(), true)
  assert.equal(box.getHost(3000), `3000-${box.sandboxId}.${process.env.BOX_DOMAIN}`)
  assert.equal((await box.commands.run('echo $FROM_CREATE')).stdout, 'yes\n')

  const list = async (query, opts) => (await Sandbox.list({ query, ...opts }).nextItems()).map((one) => one.sandboxId)
  assert.deepEqual(await list({ metadata: { run: 'b c' } }), [box.sandboxId])
  assert.deepEqual(await list({ metadata: { sign: '100%' } }), [box.sandboxId])
  assert.deepEqual(await list({ metadata: { run: 'x' } }), [])
  assert.deepEqual(await list({ state: ['paused'] }), [])
  assert.deepEqual(await list({}, other), [])

  const second = await Sandbox.create({ timeoutMs: 60_000 })
  const pages = Sandbox.list({ limit: 1 })
  const seen = [...await pages.nextItems()]
  assert.equal(pages.hasNext, true)
  seen.push(...await pages.nextItems())
  assert.equal(pages.hasNext, false)
  assert.deepEqual(seen.map((one) => one.sandboxId).sort(), [box.sandboxId, second.sandboxId].sort())
  assert.equal(await second.kill(), true)

  // Who names no time gets what the profile allows.
  const brief = await Sandbox.create('brief')
  const rest = async () => (await brief.getInfo()).endAt - Date.now()
  assert.ok(await rest() > 50_000 && await rest() < 61_000)
  await brief.connect()
  await brief.pause().then(() => brief.connect(), (error) => console.log('pause: ' + error.message))
  assert.ok(await rest() > 50_000 && await rest() < 61_000)
  await assert.rejects(brief.connect({ timeoutMs: 61_000 }), /400.*timeout.*60/)
  await assert.rejects(Sandbox.create('brief', { timeoutMs: 61_000 }), /400.*timeout.*60/)
  assert.equal(await brief.kill(), true)

  await box.setTimeout(120_000)
  assert.ok((await box.getInfo()).endAt - Date.now() > 100_000)
  // A connection makes the time longer, never shorter.
  await Sandbox.connect(box.sandboxId, { timeoutMs: 10_000 })
  assert.ok((await box.getInfo()).endAt - Date.now() > 90_000)

  const again = await Sandbox.connect(box.sandboxId)
  assert.equal((await again.commands.run('echo again')).stdout, 'again\n')
  const metrics = await box.getMetrics()
  assert.ok(metrics.length === 1 && metrics[0].memTotal > 0 && metrics[0].diskTotal > 0)

  await assert.rejects(Sandbox.connect(box.sandboxId, other), NotFoundError)
  await assert.rejects(Sandbox.getInfo(box.sandboxId, other), NotFoundError)
  assert.equal(await Sandbox.kill(box.sandboxId, other), false)
  await assert.rejects(Sandbox.connect('isnothing'), NotFoundError)
  await assert.rejects(Sandbox.create('nothing'), /404/)
  await assert.rejects(Sandbox.create('base', { apiKey: 'e2b_' + '0'.repeat(40) }), AuthenticationError)
  await assert.rejects(Sandbox.create('base', { apiKey: process.env.VIEWER_KEY }))
  await assert.rejects(Sandbox.create('base', { timeoutMs: 100 * 24 * 3600_000 }), /400|limit|beyond/)
  await assert.rejects(Sandbox.create('base', { lifecycle: { onTimeout: 'pause' } }), /autoPause/)
  await assert.rejects(Sandbox.create('base', { network: { denyOut: ['192.0.2.1'] } }), /denyOut/)

  // What was not asked for is not told; a change is.
  assert.equal((await box.getInfo()).allowInternetAccess, undefined)
  await box.updateNetwork({ allowInternetAccess: false })
  assert.equal((await box.getInfo()).allowInternetAccess, false)
  await box.updateNetwork({ denyOut: ({ allTraffic }) => [allTraffic], allowOut: ['example.com'] })
  await assert.rejects(box.updateNetwork({ allowOut: ['192.0.2.1'] }), /400.*allowOut/)
  await box.updateNetwork({})
  const offline = await Sandbox.create({ timeoutMs: 60_000, allowInternetAccess: false })
  assert.equal((await offline.getInfo()).allowInternetAccess, false)

  assert.equal(await Template.exists('base'), true)
  assert.equal(await Template.exists('base:stable-such'), false)
  assert.equal(await Template.exists('nothing'), false)
  await assert.rejects(Template.getTags('base'), /422.*not offered here/)
  await assert.rejects(Template.build(Template().fromImage('debian'), 'mine'), /422.*not offered here/)
  await assert.rejects(Volume.create('v'), /422.*not offered here/)

  // The oldest first, by pages, and those since a moment.
  const since = (await offline.getInfo()).startedAt
  const upwards = Sandbox.list({ limit: 1, order: 'asc' })
  const walked = [...await upwards.nextItems(), ...await upwards.nextItems()]
  assert.deepEqual(walked.map((one) => one.sandboxId), [box.sandboxId, offline.sandboxId])
  assert.equal(upwards.hasNext, false)
  assert.deepEqual(await list({ startedAfter: new Date(since.getTime() - 1) }), [offline.sandboxId])
  assert.deepEqual(await list({ startedAfter: new Date(since.getTime() + 1000) }), [])
  assert.equal(await offline.kill(), true)

  await box.files.write('kept', 'by a snapshot')
  const snapshot = await box.createSnapshot().catch((error) => { console.log('snapshot: ' + error.message) })
  if (snapshot) {
    assert.deepEqual((await Sandbox.listSnapshots().nextItems()).map((one) => one.snapshotId), [snapshot.snapshotId])
    const copy = await Sandbox.create(snapshot.snapshotId, { timeoutMs: 60_000 })
    assert.equal(await copy.files.read('kept'), 'by a snapshot')
    assert.equal(await copy.kill(), true)
    assert.equal(await Sandbox.deleteSnapshot(snapshot.snapshotId), true)
    assert.equal(await Sandbox.deleteSnapshot(snapshot.snapshotId), false)

    const forks = await box.fork({ count: 2, timeoutMs: 90_000 })
    assert.equal(forks.length, 2)
    for (const one of forks) {
      assert.equal(await one.files.read('kept'), 'by a snapshot')
      assert.ok((await one.getInfo()).endAt - Date.now() > 70_000)
      assert.equal(await one.kill(), true)
    }
    await assert.rejects(Sandbox.fork(box.sandboxId, other), NotFoundError)
  }

  // What runs inside is kept where the backend can keep it; else the client hears that it cannot.
  const watch = await box.commands.run('sleep 600', { background: true, timeoutMs: 0 })
  const paused = await box.pause().then(() => true, (error) => { console.log('pause: ' + error.message); return false })
  if (paused) {
    assert.equal(await box.isRunning(), false)
    assert.equal((await box.getInfo()).state, 'paused')
    assert.deepEqual(await list({ state: ['paused'] }), [box.sandboxId])
    assert.equal(await box.pause(), false)
    await assert.rejects(box.commands.run('true'))
    // A reboot that would be none is refused, and the sandbox stays as it is.
    await assert.rejects(box.connect({ onResume: 'reboot' }), /400.*memory/)
    assert.equal((await box.getInfo()).state, 'paused')
    await box.connect({ onResume: 'restore' })
    assert.equal(await box.isRunning(), true)
    assert.ok((await box.commands.list()).some((one) => one.pid === watch.pid))
    await box.connect({ onResume: 'reboot' })

    // Time stands still for the paused; whoever connects says how much there is from then on.
    const asleep = await Sandbox.create({ timeoutMs: 3_000 })
    await asleep.files.write('work', 'precious')
    await asleep.pause()
    await new Promise((done) => setTimeout(done, 6_000))
    assert.equal((await asleep.getInfo()).state, 'paused')
    const awake = await Sandbox.connect(asleep.sandboxId, { timeoutMs: 60_000 })
    assert.equal(await awake.files.read('work'), 'precious')
    const left = async () => (await awake.getInfo()).endAt - Date.now()
    assert.ok(await left() > 55_000 && await left() < 61_000)
    await awake.pause()
    await awake.connect({ timeoutMs: 20_000 })
    assert.ok(await left() > 15_000 && await left() < 21_000)
    assert.equal(await awake.kill(), true)
  }
} finally {
  assert.equal(await box.kill(), true)
}
assert.equal(await Sandbox.kill(box.sandboxId), false)
assert.equal(await box.isRunning(), false)
await assert.rejects(box.commands.run('true'))
await assert.rejects(box.files.read('/etc/hostname'))
await assert.rejects(box.getInfo(), NotFoundError)
