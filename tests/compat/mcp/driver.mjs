// The protocol's own client, told what to do by lines of JSON on stdin: each is a step, or a list of
// steps to be taken at once. One line answers each: {"ok": …} or {"error": …}, or a list of them.
import readline from 'node:readline';
import {Client} from '@modelcontextprotocol/sdk/client/index.js';
import {StreamableHTTPClientTransport} from '@modelcontextprotocol/sdk/client/streamableHttp.js';

const clients = new Map();

const deeds = {
  async connect({name, url, headers}) {
    const transport = new StreamableHTTPClientTransport(new URL(url), {requestInit: {headers}});
    const client = new Client({name: 'test', version: '1.0.0'});
    await client.connect(transport);
    clients.set(name, {client, transport});
    return {session: transport.sessionId, server: client.getServerVersion(),
      capabilities: client.getServerCapabilities(), instructions: client.getInstructions()};
  },
  list: ({client}) => client.listTools(),
  ping: ({client}) => client.ping(),
  resources: ({client}) => client.request({method: 'resources/list'}, undefined),
  async call({client}, {tool, args, progress, timeout}) {
    let signs = 0;
    const options = progress ? {onprogress: () => ++signs, resetTimeoutOnProgress: true} : {};
    if (timeout) options.timeout = timeout;
    const result = await client.callTool({name: tool, arguments: args}, undefined, options);
    return progress ? {...result, signs} : result;
  },
  async terminate({transport}) {
    await transport.terminateSession();
    return {};
  },
  async close({client}) {
    await client.close();
    return {};
  },
};

const take = async (step) => {
  try {
    const deed = deeds[step.do];
    return {ok: await (step.do === 'connect' ? deed(step) : deed(clients.get(step.name), step))};
  } catch (error) {
    return {error: {name: error.constructor.name, code: error.code, message: String(error.message)}};
  }
};

for await (const line of readline.createInterface({input: process.stdin})) {
  const step = JSON.parse(line);
  const answer = Array.isArray(step) ? await Promise.all(step.map(take)) : await take(step);
  process.stdout.write(JSON.stringify(answer) + '\n');
}
process.exit(0);
