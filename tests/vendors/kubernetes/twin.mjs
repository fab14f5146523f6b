// What the published client can do against the fake, each answer checked.
import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import * as k8s from '@kubernetes/client-node'

const url = process.env.FAKE_URL
const state = async () => (await fetch(url + '/_fake/state')).json()
const fault = (one) => fetch(url + '/_fake/faults', { method: 'POST', body: JSON.stringify(one) })

const connected = (server, user, more = {}) => {
  const config = new k8s.KubeConfig()
  config.loadFromClusterAndUser({ name: 'fake', server, skipTLSVerify: server.startsWith('http:'), ...more }, { name: 'u', ...user })
  return config
}
const config = connected(url, { token: process.env.KUBE_TOKEN })
const core = config.makeApiClient(k8s.CoreV1Api)
const custom = config.makeApiClient(k8s.CustomObjectsApi)
const networking = config.makeApiClient(k8s.NetworkingV1Api)
const namespace = 'default'
const labels = { sandgate_id: 'sb1', note: 'x' }
const spec = {
  containers: [{ name: 'sandbox', image: 'tools', env: [{ name: 'A', value: 'b' }] }],
  automountServiceAccountToken: false
}
const until = async (ask) => {
  for (let i = 0; i < 100; i++) {
    const answer = await ask().catch((error) => error)
    if (answer && !(answer instanceof Error)) return answer
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  assert.fail('it did not come')
}
const running = (name) => until(async () => {
  const pod = await core.readNamespacedPod({ name, namespace })
  return pod.status.phase === 'Running' && pod
})
const refused = (code) => (error) => error.code === code

// Runs a command; `input` is given as chunks and then ended.
const run = (name, command, { input, tty = false, within = namespace, as = config } = {}) =>
  new Promise((resolve, reject) => {
    const out = new PassThrough(), err = new PassThrough()
    const read = { out: [], err: [] }
    out.on('data', (data) => read.out.push(data))
    err.on('data', (data) => read.err.push(data))
    const stdin = input === undefined ? null : new PassThrough()
    new k8s.Exec(as).exec(within, name, 'sandbox', command, out, err, stdin, tty, (status) =>
      resolve({ status, out: Buffer.concat(read.out), err: Buffer.concat(read.err) }))
      .then((socket) => {
        assert.equal(socket.protocol, within === 'old' ? 'v4.channel.k8s.io' : 'v5.channel.k8s.io')
        if (stdin) {
          for (const chunk of input) stdin.write(chunk)
          if (!tty) stdin.end()
        }
      }, reject)
  })
const exitCode = (status) => status.status === 'Success' ? 0
  : Number(status.details.causes.find((cause) => cause.reason === 'ExitCode').message)

try {
  // Plain pods.
  await core.createNamespacedPod({ namespace, body: {
    metadata: { name: 'sb1', labels }, spec } })
  await assert.rejects(core.createNamespacedPod({ namespace, body: {
    metadata: { name: 'sb1', labels }, spec } }), refused(409))
  assert.equal((await running('sb1')).spec.automountServiceAccountToken, false)
  for (const name of ['sb2', 'sb3'])
    await core.createNamespacedPod({ namespace, body: { metadata: { name, labels: { other: 'x' } }, spec } })
  const names = []
  for (let _continue; ;) {
    const page = await core.listNamespacedPod({ namespace, limit: 100, _continue })
    names.push(...page.items.map((pod) => pod.metadata.name))
    _continue = page.metadata._continue
    if (!_continue) break
  }
  assert.deepEqual(names, ['sb1', 'sb2', 'sb3'])
  const ours = await core.listNamespacedPod({ namespace, labelSelector: 'sandgate_id=sb1' })
  assert.deepEqual(ours.items.map((pod) => pod.metadata.name), ['sb1'])
  assert.equal((await core.listNamespacedPod({ namespace, labelSelector: 'sandgate_id' })).items.length, 1)

  // Exec: both outputs, exit codes, stdin with its end, bytes that are no text, a terminal.
  const both = await run('sb1', ['/bin/sh', '-c', 'echo $A; echo err >&2; exit 7'])
  assert.equal(both.out.toString(), 'b\n')
  assert.equal(both.err.toString(), 'err\n')
  assert.equal(exitCode(both.status), 7)
  const bytes = Buffer.from(Array.from({ length: 256 }, (_, i) => i))
  const cat = await run('sb1', ['cat'], { input: [bytes, bytes] })
  assert.deepEqual(cat.out, Buffer.concat([bytes, bytes]))
  assert.equal(exitCode(cat.status), 0)
  const none = await run('sb1', ['/no/such/program'])
  assert.equal(none.status.reason, 'InternalError')
  const terminal = await run('sb1', ['/bin/sh', '-c', 'read a; test -t 0 && echo tty $a'], {
    input: ['hi\n'], tty: true })
  assert.match(terminal.out.toString(), /tty hi/)
  await core.createNamespacedPod({ namespace: 'old', body: {
    metadata: { name: 'sb4', namespace: 'old' }, spec } })
  await until(async () => (await core.readNamespacedPod({ name: 'sb4', namespace: 'old' }))
    .status.phase === 'Running')
  assert.equal(exitCode((await run('sb4', ['true'], { within: 'old' })).status), 0)
  await core.deleteNamespacedPod({ name: 'sb4', namespace: 'old' })

  for (const name of ['sb1', 'sb2', 'sb3']) await core.deleteNamespacedPod({ name, namespace })
  await until(() => core.readNamespacedPod({ name: 'sb1', namespace }).then(() => false,
    (error) => error.code === 404))
  await assert.rejects(core.deleteNamespacedPod({ name: 'sb1', namespace }), refused(404))

  // The Sandbox resource.
  const kind = { group: 'agents.x-k8s.io', version: 'v1beta1', plural: 'sandboxes', namespace }
  assert.equal((await custom.getAPIResources(kind)).resources[0].kind, 'Sandbox')
  await custom.createNamespacedCustomObject({ ...kind, body: {
    apiVersion: 'agents.x-k8s.io/v1beta1', kind: 'Sandbox', metadata: { name: 'sb5', labels },
    spec: { podTemplate: { metadata: { labels }, spec }, shutdownPolicy: 'Delete' } } })
  assert.equal((await running('sb5')).metadata.ownerReferences[0].kind, 'Sandbox')
  const merge = k8s.setHeaderOptions('Content-Type', k8s.PatchStrategy.MergePatch)
  const patched = await custom.patchNamespacedCustomObject({ ...kind, name: 'sb5', body: {
    spec: { shutdownTime: '2030-01-01T00:00:00Z' } } }, merge)
  assert.equal(patched.spec.shutdownTime, '2030-01-01T00:00:00Z')
  await custom.patchNamespacedCustomObject({ ...kind, name: 'sb5', body: {
    spec: { operatingMode: 'Suspended' } } }, merge)
  await assert.rejects(core.readNamespacedPod({ name: 'sb5', namespace }), refused(404))
  assert.equal((await custom.listNamespacedCustomObject({ ...kind, labelSelector: 'sandgate_id' }))
    .items.length, 1)
  await custom.deleteNamespacedCustomObject({ ...kind, name: 'sb5' })

  // A network policy, and faults.
  const policy = { metadata: { name: 'p' }, spec: { podSelector: {}, policyTypes: ['Egress'] } }
  await networking.createNamespacedNetworkPolicy({ namespace, body: policy })
  await assert.rejects(networking.createNamespacedNetworkPolicy({ namespace, body: policy }), refused(409))
  assert.deepEqual((await networking.readNamespacedNetworkPolicy({ name: 'p', namespace }))
    .spec.policyTypes, ['Egress'])
  await fault({ match: 'POST .*/pods$', kind: 'status', status: 429, times: 1 })
  await assert.rejects(core.createNamespacedPod({ namespace, body: {
    metadata: { name: 'sb6' }, spec } }), refused(429))
  const stranger = connected(url, { token: 'wrong' }).makeApiClient(k8s.CoreV1Api)
  await assert.rejects(stranger.listNamespacedPod({ namespace }), refused(401))

  // A certificate instead of a token, from an authority of the cluster's own.
  const { tls } = await state()
  const packed = (text) => Buffer.from(text).toString('base64')
  const certified = connected(tls.url, {
    certData: packed(tls.certificate), keyData: packed(tls.key) }, { caData: packed(tls.certificate) })
  const secure = certified.makeApiClient(k8s.CoreV1Api)
  assert.equal((await secure.listNamespacedPod({ namespace, labelSelector: 'none' })).items.length, 0)
  await core.createNamespacedPod({ namespace, body: { metadata: { name: 'sb7' }, spec } })
  await running('sb7')
  assert.equal(exitCode((await run('sb7', ['true'], { as: certified })).status), 0)
  await core.deleteNamespacedPod({ name: 'sb7', namespace })
} catch (error) {
  console.error(error)
  process.exit(1)
}
assert.deepEqual((await state()).boxes, [])
console.log('the client and the fake agree')
process.exit(0)
