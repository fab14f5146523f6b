// Programs and terminals with the published client.
import assert from 'node:assert/strict'
import { AuthenticationError, CommandExitError, NotFoundError, Sandbox, TimeoutError } from 'e2b'

const box = await Sandbox.create('base', { timeoutMs: 120_000 })
const until = async (condition) => {
  for (let i = 0; i < 500 && !(await condition()); ++i) await new Promise((done) => setTimeout(done, 20))
  assert.ok(await condition())
}
try {
  const seen = { out: '', err: '' }
  const both = await box.commands.run('echo out; echo err >&2; pwd; id -un', {
    onStdout: (data) => { seen.out += data }, onStderr: (data) => { seen.err += data } })
  assert.deepEqual([both.exitCode, both.stdout, both.stderr], [0, 'out\n/home/user\nuser\n', 'err\n'])
  assert.deepEqual(seen, { out: both.stdout, err: 'err\n' })
  await assert.rejects(box.commands.run('exit 7'), (error) =>
    error instanceof CommandExitError && error.exitCode === 7 && error.message === 'exit status 7')
  const given = await box.commands.run('echo $A; pwd', { envs: { A: 'b c' }, cwd: '/tmp' })
  assert.equal(given.stdout, 'b c\n/tmp\n')
  const inside = await box.commands.run('echo "$E2B_SANDBOX|$E2B_SANDBOX_ID|$E2B_TEMPLATE_ID"')
  assert.equal(inside.stdout, `true|${box.sandboxId}|base\n`)
  const own = await box.commands.run('echo $E2B_SANDBOX', { envs: { E2B_SANDBOX: 'mine' } })
  assert.equal(own.stdout, 'mine\n')
  await box.files.makeDir('below')
  assert.equal((await box.commands.run('pwd', { cwd: '~' })).stdout, '/home/user\n')
  assert.equal((await box.commands.run('pwd', { cwd: '~/below' })).stdout, '/home/user/below\n')
  assert.equal((await box.commands.run('cat; echo end')).stdout, 'end\n')
  assert.equal((await box.commands.run('id -un', { user: 'user' })).stdout, 'user\n')
  await assert.rejects(box.commands.run('true', { user: 'nobody-such' }), AuthenticationError)
  await assert.rejects(box.commands.run('true', { user: 'root' }))
  await assert.rejects(box.commands.run('true', { cwd: '/nothing' }))
  await assert.rejects(box.commands.run('sleep 600', { timeoutMs: 500 }), TimeoutError)
  const large = await box.commands.run('head -c 3000000 /dev/zero | tr "\\0" x')
  assert.equal(large.stdout.length, 3_000_000)

  const cat = await box.commands.run('cat', { background: true, stdin: true })
  await until(async () => (await box.commands.list()).some((one) => one.pid === cat.pid))
  const listed = (await box.commands.list()).find((one) => one.pid === cat.pid)
  assert.deepEqual([listed.cmd, listed.args.at(-1)], ['/bin/bash', 'cat'])
  await box.commands.sendStdin(cat.pid, 'typed\n')
  await box.commands.closeStdin(cat.pid)
  assert.equal((await cat.wait()).stdout, 'typed\n')

  const sleeper = await box.commands.run('sleep 600', { background: true, timeoutMs: 0 })
  await assert.rejects(box.commands.sendStdin(sleeper.pid, 'x'), (error) =>
    !(error instanceof NotFoundError) && /stdin not enabled or closed/.test(error.message))
  await box.commands.closeStdin(sleeper.pid)
  assert.equal(await sleeper.kill(), true)
  await assert.rejects(box.commands.sendStdin(sleeper.pid, 'x'), NotFoundError)
  await assert.rejects(sleeper.wait(), (error) =>
    error instanceof CommandExitError && error.message === 'signal: killed')
  assert.equal(await box.commands.kill(sleeper.pid), false)
  // One whose memory takes the kernel a moment to free is gone as well when kill() returns.
  let ready = ''
  const heavy = await box.commands.run(
    "exec python3 -c 'x = b\"x\" * (300 << 20); print(1, flush=True); import time; time.sleep(600)'",
    { background: true, timeoutMs: 0, onStdout: (data) => { ready += data } })
  await until(() => ready === '1\n')
  assert.equal(await heavy.kill(), true)
  assert.ok(!(await box.commands.list()).some((one) => one.pid === heavy.pid))
  await assert.rejects(heavy.wait(), CommandExitError)
  assert.equal(await box.commands.kill(999_999_999), false)

  // Whoever leaves a program does not end it, and finds it again.
  const talker = await box.commands.run('while read line; do echo "heard $line"; done; echo over', {
    background: true, stdin: true, timeoutMs: 0 })
  await talker.disconnect()
  let heard = ''
  const found = await box.commands.connect(talker.pid, { onStdout: (data) => { heard += data } })
  await box.commands.sendStdin(talker.pid, 'one\n')
  await until(() => heard === 'heard one\n')
  await box.commands.closeStdin(talker.pid)
  assert.equal((await found.wait()).exitCode, 0)
  assert.match(heard, /over/)

  let typed = ''
  const pty = await box.pty.create({ cols: 80, rows: 24, cwd: '~/below', timeoutMs: 0, onData: (data) => {
    typed += Buffer.from(data).toString() } })
  await box.pty.sendInput(pty.pid, Buffer.from('stty size\n'))
  await until(() => /24 80/.test(typed))
  await box.pty.resize(pty.pid, { cols: 100, rows: 30 })
  await box.pty.sendInput(pty.pid, Buffer.from('stty size; echo $TERM; exit 3\n'))
  await assert.rejects(pty.wait(), (error) => error instanceof CommandExitError && error.exitCode === 3)
  assert.match(typed, /30 100/)
  const doomed = await box.pty.create({ cols: 80, rows: 24, timeoutMs: 0, onData: () => {} })
  assert.equal(await box.pty.kill(doomed.pid), true)

  const many = await Promise.all(Array.from({ length: 10 }, (_, i) => box.commands.run(`echo ${i}`)))
  assert.deepEqual(many.map((one) => one.stdout), Array.from({ length: 10 }, (_, i) => `${i}\n`))
} finally {
  await box.kill()
}
