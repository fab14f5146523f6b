// What the published client can do against the fake, each answer checked.
import assert from 'node:assert/strict'
import Runloop, { toFile } from '@runloop/api-client'

const url = process.env.FAKE_URL
const state = async () => (await fetch(url + '/_fake/state')).json()
const fault = (body) => fetch(url + '/_fake/faults', { method: 'POST', body: JSON.stringify(body) })

const client = new Runloop({ maxRetries: 0, http2: false })
const made = await client.devboxes.create({ name: 'sb1', metadata: { run: 'b c' },
  environment_variables: { FROM_CREATE: 'yes' },
  launch_parameters: { resource_size_request: 'CUSTOM_SIZE', custom_cpu_cores: 1,
    custom_gb_memory: 2, custom_disk_size: 2, keep_alive_time_seconds: 600 } })
const id = made.id
try {
  assert.equal(made.status, 'provisioning')
  assert.equal((await client.devboxes.awaitRunning(id)).metadata.run, 'b c')
  const listed = []
  for await (const box of client.devboxes.list({ status: 'running' })) listed.push(box.id)
  assert.deepEqual(listed, [id])

  const ran = await client.devboxes.executeSync(id, { command: 'echo $FROM_CREATE; echo err >&2; exit 7' })
  assert.deepEqual([ran.exit_status, ran.stdout, ran.stderr], [7, 'yes\n', 'err\n'])

  const slow = await client.devboxes.executeAsync(id, {
    command: 'for i in 1 2 3; do echo $i; sleep 0.05; done; exit 3' })
  let out = ''
  const stream = await client.devboxes.executions.streamStdoutUpdates(id, slow.execution_id, {})
  for await (const update of stream) out += update.output
  assert.equal(out, '1\n2\n3\n')
  const ended = await client.devboxes.executions.awaitCompleted(id, slow.execution_id)
  assert.equal(ended.exit_status, 3)

  const bytes = Buffer.from(Uint8Array.from({ length: 256 }, (_, i) => i))
  await client.devboxes.uploadFile(id, { path: 'deep/data.bin', file: await toFile(bytes, 'data.bin') })
  const back = await client.devboxes.downloadFile(id, { path: 'deep/data.bin' })
  assert.deepEqual(Buffer.from(await back.arrayBuffer()), bytes)
  await client.devboxes.writeFileContents(id, { file_path: 'note', contents: 'text' })
  assert.equal(await client.devboxes.readFileContents(id, { file_path: 'note' }), 'text')

  const taken = await client.devboxes.snapshotDiskAsync(id, { name: 'sn1',
    metadata: { sandgate_id: 'sn1' } })
  assert.equal((await client.devboxes.diskSnapshots.queryStatus(taken.id)).status, 'complete')
  const kept = []
  for await (const one of client.devboxes.diskSnapshots.list({
    'metadata[sandgate_id]': 'sn1' })) kept.push(one.id)
  assert.deepEqual(kept, [taken.id])
  await client.devboxes.diskSnapshots.delete(taken.id)
  assert.equal((await client.devboxes.suspend(id)).status, 'suspended')
  assert.equal((await client.devboxes.resume(id)).status, 'running')
  assert.equal(await client.devboxes.readFileContents(id, { file_path: 'note' }), 'text')

  await fault({ match: 'POST /v1/devboxes$', kind: 'status', status: 429, times: 1 })
  await assert.rejects(client.devboxes.create({}), Runloop.RateLimitError)
  await assert.rejects(client.devboxes.retrieve('dbx_none'), Runloop.NotFoundError)
} finally {
  assert.equal((await client.devboxes.shutdown(id)).status, 'shutdown')
}
assert.equal((await client.devboxes.retrieve(id)).status, 'shutdown')
assert.deepEqual((await state()).boxes, [])
console.log('the client and the fake agree')
process.exit(0)
