// Task sessions of ext-tasks, on a client of version 2 of the TypeScript SDK that speaks 2025-11-25; its requests go to
// several nodes by turns.
//
//     node client.mjs TOKEN URL...
//
// It prints one line of JSON a step: what the client was told.  What that should have been, the test knows.

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { createApplicationInputHandler, createTaskSessionFromClient } from "@modelcontextprotocol/ext-tasks/client";
import { bindTaskReceiver } from "@modelcontextprotocol/ext-tasks/receiver";

const [token, ...urls] = process.argv.slice(2);
const requests = urls.map(() => 0);
const asked = [];
const errors = [];

let turn = 0;

async function fetchByTurns(url, init) {
  const node = turn++ % urls.length;
  requests[node] += 1;
  return fetch(urls[node] + new URL(url).pathname, init);
}

async function connect(tasks) {
  const capabilities = { elicitation: { form: {} }, sampling: {}, tasks };
  const client = new Client({ name: "interop", version: "1.0.0" }, { capabilities });
  client.onerror = (error) => errors.push(String(error));
  const headers = { authorization: `Bearer ${token}` };
  const options = { fetch: fetchByTurns, requestInit: { headers } };
  const transport = new StreamableHTTPClientTransport(new URL(`${urls[0]}/mcp`), options);
  await client.connect(transport);
  return { client, transport };
}

const ACCEPTED = { action: "accept", content: { city: "Oslo", nights: 3 } };
const WRITTEN = { model: "poet", role: "assistant", content: { type: "text", text: "tea" } };
let fillIn = () => ACCEPTED;

const onInputRequest = createApplicationInputHandler({
  elicitation(request, { scope, taskId }) {
    asked.push({ ...request, scope, taskId });
    return fillIn();
  },
  sampling(request, { scope, taskId }) {
    asked.push({ ...request, scope, taskId });
    return WRITTEN;
  },
  roots: () => ({ roots: [] }),
});

function openSession(client) {
  const onError = (error) => errors.push(String(error));
  return createTaskSessionFromClient(client, { endpointId: "interop", onInputRequest, onError });
}

// What is on its way meanwhile is an error to it, and of no interest.
async function close({ client, session }) {
  client.onerror = () => {};
  await session.close();
  await client.close();
}

const { client, transport } = await connect();
const session = openSession(client);

const AS_TASK = { task: { preference: "require" } };

function create(name, args = {}, options = AS_TASK) {
  return session.callTool(name, args, options);
}

async function call(name, args = {}) {
  return settled(await session.callTool(name, args, { task: { preference: "forbid" } }));
}

async function release(label) {
  const execution = await session.callTool("release", { label });
  await execution.result();
}

// An outcome, whose error is one that JSON can write.
function plainly({ error, ...outcome }) {
  return error === undefined ? outcome : { ...outcome, error: { code: error.code, message: error.message } };
}

async function failureOf(promise) {
  return promise.then(
    (result) => ({ unexpected: result }),
    ({ code, message }) => ({ code, message }),
  );
}

async function settled(execution) {
  const outcome = plainly(await execution.result());
  return { kind: execution.kind, taskId: execution.handle?.taskId, outcome, asked: asked.splice(0) };
}

// A task that asks something.  It asks when the client knows it: this client takes a question of a task that it has
// not heard of yet for one of nobody's, and answers it by itself with `cancel`.
async function followQuestions(label, name, args = {}) {
  const execution = await create(name, { ...args, gate: label });
  await release(label);
  return settled(execution);
}

// A session whose client answers by tasks of its own; `asked` is what each of them was asked.
async function openOwnSession() {
  const requests = { elicitation: { create: {} }, sampling: { createMessage: {} } };
  const own = await connect({ list: {}, cancel: {}, requests });
  const receiver = bindTaskReceiver(own.client, {
    methods: { "elicitation/create": true, "sampling/createMessage": true },
    pollIntervalMs: 20,
    async elicitation(request, { signal }) {
      asked.push(request);
      return own.hesitate?.(signal) ?? ACCEPTED;
    },
    async sampling(request) {
      asked.push(request);
      return WRITTEN;
    },
    onError: (error) => errors.push(String(error)),
  });
  return Object.assign(own, { session: openSession(own.client), receiver });
}

const steps = {
  async initialize() {
    await client.ping();
    const { inventory, execution, cancellation } = session.capabilities;
    const version = transport.protocolVersion;
    return { version, server: client.getServerVersion(), capabilities: { inventory, execution, cancellation } };
  },

  async plain() {
    return call("add", { a: 2, b: 3 });
  },

  async task() {
    const execution = await create("gated", { label: "task" }, { task: { preference: "prefer", retentionMs: 90_000 } });
    const events = [];
    for await (const event of execution.updates()) {
      if (events.push({ ...event, outcome: event.outcome && plainly(event.outcome) }) === 1) {
        await release("task");
      }
    }
    return { kind: execution.kind, taskId: execution.handle.taskId, events };
  },

  async required() {
    return settled(await session.callTool("only_as_task")); // that it must be a task, it knows from tools/list
  },

  async get() {
    const execution = await create("gated", { label: "get" });
    const { taskId } = execution.handle;
    const before = await session.task(taskId).snapshot();
    await release("get");
    await execution.result();
    return { taskId, before, after: await session.task(taskId).snapshot() };
  },

  async list() {
    const created = [];
    for (let number = 0; number < 4; number += 1) {
      created.push((await create("add", { a: number, b: 1 })).handle.taskId);
    }
    const pages = [];
    let cursor;
    do {
      const page = await session.listTasks(cursor);
      pages.push(page.tasks.map((task) => task.taskId));
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    return { created, pages, invalid: await failureOf(session.listTasks("no-cursor")) };
  },

  async cancel() {
    const execution = await create("gated", { label: "never" });
    const { taskId } = execution.handle;
    await execution.cancel();
    const { status } = await session.task(taskId).snapshot();
    const again = await failureOf(session.task(taskId).cancel());
    return { status, outcome: plainly(await execution.result()), again };
  },

  async failed() {
    return settled(await create("refuse", { reason: "no paper" }));
  },

  async unknown() {
    const task = session.task(`0-${"0".repeat(32)}`);
    return { failures: await Promise.all([task.snapshot(), task.result(), task.cancel()].map(failureOf)) };
  },

  // A task goes on under another session, to which its first one handed it over.
  async handoff() {
    const execution = await create("gated", { label: "handoff" });
    let reference;
    await execution.handoff((given) => (reference = given));
    const other = await connect();
    const second = openSession(other.client);
    const resumed = await second.resumeTask(JSON.parse(JSON.stringify(reference)));
    await release("handoff");
    const outcome = plainly(await resumed.result());
    await close({ ...other, session: second });
    return { outcome };
  },

  async elicitation() {
    return followQuestions("elicitation", "book");
  },

  async declined() {
    fillIn = () => ({ action: "decline" });
    const told = await followQuestions("declined", "book");
    fillIn = () => ACCEPTED;
    return told;
  },

  async plain_elicitation() {
    return call("book");
  },

  async sampling() {
    return followQuestions("sampling", "rhyme", { word: "sea" });
  },

  async both() {
    return followQuestions("both", "book_and_rhyme");
  },

  async own_tasks() {
    const own = await openOwnSession();
    const elicitation = await settled(await own.session.callTool("book", { as_task: true }, AS_TASK));
    const sampling = await settled(await own.session.callTool("rhyme", { word: "sea", as_task: true }, AS_TASK));
    const isAsked = new Promise((resolve) => {
      own.hesitate = (signal) => resolve(signal) ?? new Promise(() => {});
    });
    const execution = await own.session.callTool("book", { as_task: true }, AS_TASK);
    const signal = await isAsked;
    const isAbandoned = new Promise((resolve) => signal.addEventListener("abort", () => resolve(true)));
    await execution.cancel();
    const abandoned = await isAbandoned;
    asked.splice(0);
    own.receiver.close();
    await close(own);
    return { elicitation, sampling, abandoned };
  },

  async end() {
    const complaints = errors.splice(0);
    await session.close();
    await transport.terminateSession();
    await client.close();
    return { requests, errors: complaints };
  },
};

for (const [step, take] of Object.entries(steps)) {
  console.log(JSON.stringify({ step, ...(await take()) }));
}
