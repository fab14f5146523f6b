// What the published client can do against the fake, each answer checked.
import assert from 'node:assert/strict'
import {
  BedrockAgentCoreClient, GetCodeInterpreterSessionCommand, InvokeAgentRuntimeCommandCommand,
  InvokeCodeInterpreterCommand, ListCodeInterpreterSessionsCommand,
  StartCodeInterpreterSessionCommand, StopCodeInterpreterSessionCommand, StopRuntimeSessionCommand,
} from '@aws-sdk/client-bedrock-agentcore'

const url = process.env.FAKE_URL
const state = async () => (await fetch(url + '/_fake/state')).json()
const fault = (body) => fetch(url + '/_fake/faults', { method: 'POST', body: JSON.stringify(body) })

const client = new BedrockAgentCoreClient({})
const codeInterpreterIdentifier = 'aws.codeinterpreter.v1'
const start = { codeInterpreterIdentifier, name: 'sb1', sessionTimeoutSeconds: 600,
  clientToken: 'sandgate-0123456789-0123456789-0123456789' }
const made = await client.send(new StartCodeInterpreterSessionCommand(start))
const session = { codeInterpreterIdentifier, sessionId: made.sessionId }
const invoke = async (name, args) => {
  const answer = await client.send(new InvokeCodeInterpreterCommand({
    ...session, name, arguments: args }))
  assert.equal(answer.sessionId, session.sessionId)
  const events = []
  for await (const event of answer.stream) events.push(event)
  assert.equal(events.length, 1)
  return events[0].result
}
try {
  assert.equal((await client.send(new StartCodeInterpreterSessionCommand(start))).sessionId,
    made.sessionId)
  const read = await client.send(new GetCodeInterpreterSessionCommand(session))
  assert.deepEqual([read.name, read.status, read.sessionTimeoutSeconds], ['sb1', 'READY', 600])
  assert.ok(read.createdAt instanceof Date)
  const listed = await client.send(new ListCodeInterpreterSessionsCommand({
    codeInterpreterIdentifier, status: 'READY', maxResults: 100 }))
  assert.deepEqual(listed.items.map((item) => [item.sessionId, item.name]),
    [[made.sessionId, 'sb1']])

  const ran = await invoke('executeCommand', { command: 'echo out; echo err >&2; exit 7' })
  assert.equal(ran.content[0].text, 'out\r\nerr\r\n')
  assert.equal(ran.structuredContent.stdout, 'out\r\nerr\r\n')
  const { taskId } = (await invoke('startCommandExecution', {
    command: 'sleep 0.2; echo done; exit 3' })).structuredContent
  let task
  do task = (await invoke('getTask', { taskId })).structuredContent
  while (['submitted', 'working'].includes(task.taskStatus))
  assert.deepEqual([task.taskStatus, task.exitCode, task.stdout], ['failed', 3, 'done\r\n'])
  assert.equal((await invoke('stopTask', { taskId })).structuredContent.taskStatus, 'canceled')

  await fault({ match: 'PUT .*/sessions/start$', kind: 'status', status: 402, times: 1 })
  await assert.rejects(client.send(new StartCodeInterpreterSessionCommand(start)),
    { name: 'ServiceQuotaExceededException' })
  await assert.rejects(client.send(new GetCodeInterpreterSessionCommand({
    ...session, sessionId: 'none' })), { name: 'ResourceNotFoundException' })
  const other = new BedrockAgentCoreClient({
    credentials: { accessKeyId: 'AKIA0001', secretAccessKey: 'another' } })
  await assert.rejects(other.send(new GetCodeInterpreterSessionCommand(session)),
    { name: 'AccessDeniedException', message: 'the signature does not match' })
} finally {
  await client.send(new StopCodeInterpreterSessionCommand(session))
}
const after = await client.send(new GetCodeInterpreterSessionCommand(session))
assert.equal(after.status, 'TERMINATED')

// ---- the runtime: a session that any command starts
const runtime = { runtimeSessionId: 'sandgate-' + 'x'.repeat(26), qualifier: 'DEFAULT',
  agentRuntimeArn: 'arn:aws:bedrock-agentcore:us-east-1:123456789012:runtime/tools-abcdefghij' }
const run = async (command, timeout = 60) => {
  const answer = await client.send(new InvokeAgentRuntimeCommandCommand({ ...runtime,
    contentType: 'application/json', accept: 'application/vnd.amazon.eventstream',
    body: { command, timeout } }))
  assert.equal(answer.runtimeSessionId, runtime.runtimeSessionId)
  const told = { stdout: '', stderr: '', parts: 0 }
  for await (const { chunk } of answer.stream) {
    if (!told.parts++) assert.deepEqual(chunk, { contentStart: {} })
    told.stdout += chunk.contentDelta?.stdout ?? ''
    told.stderr += chunk.contentDelta?.stderr ?? ''
    told.stop = chunk.contentStop
  }
  return told
}
const ran = await run(`/bin/sh -c 'echo out; echo err >&2; echo kept >file; exit 7'`)
assert.deepEqual([ran.stdout, ran.stderr, ran.stop],
  ['out\n', 'err\n', { exitCode: 7, status: 'COMPLETED' }])
assert.equal((await run(`/bin/sh -c "cat file; echo \\"it's\\""`)).stdout, "kept\nit's\n")
assert.equal((await run('echo no; echo $shell')).stdout, 'no; echo $shell\n')
assert.deepEqual((await run(`/bin/sh -c 'sleep 5'`, 1)).stop.status, 'TIMED_OUT')
assert.equal((await state()).boxes.length, 1)
const stop = { ...runtime, clientToken: 'sandgate-0123456789-0123456789-0123456789' }
assert.equal((await client.send(new StopRuntimeSessionCommand(stop))).runtimeSessionId,
  runtime.runtimeSessionId)
await assert.rejects(client.send(new StopRuntimeSessionCommand({ ...runtime })),
  { name: 'ResourceNotFoundException' })
assert.equal((await run(`/bin/sh -c 'cat file'`)).stop.exitCode, 1)
// A token that was used stops nothing.
await client.send(new StopRuntimeSessionCommand(stop))
assert.equal((await state()).boxes.length, 1)
await client.send(new StopRuntimeSessionCommand({ ...runtime }))
await assert.rejects(client.send(new InvokeAgentRuntimeCommandCommand({
  ...runtime, qualifier: 'another', body: { command: 'true' } })),
{ name: 'ResourceNotFoundException' })
await fault({ match: 'POST .*/commands$', kind: 'status', status: 424, times: 1 })
await assert.rejects(run('true'), { name: 'RuntimeClientError' })
assert.deepEqual((await state()).boxes, [])
console.log('the client and the fake agree')
process.exit(0)
