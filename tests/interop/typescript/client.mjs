// The tasks client of the TypeScript SDK, whose requests go to several nodes by turns.
//
//     node client.mjs TOKEN URL...
//
// It prints one line of JSON a step: what the client was told.  What that should have been, the test knows.

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import {
  CallToolResultSchema,
  CreateMessageRequestSchema,
  CreateTaskResultSchema,
  ElicitRequestSchema,
  TaskStatusNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";

const [token, ...urls] = process.argv.slice(2);
const headers = { authorization: `Bearer ${token}` };
const requests = urls.map(() => 0);
const resumed = []; // the HTTP status of each attempt to go on with a stream
const told = new Map(); // task id -> its statuses, as notifications told them
const asked = [];
const errors = [];
let listening = () => {}; // called whenever one of these changed

let turn = 0;

async function fetchByTurns(url, init) {
  const node = turn++ % urls.length;
  requests[node] += 1;
  const response = await fetch(urls[node] + new URL(url).pathname, init);
  if (init.headers.has("last-event-id")) {
    resumed.push(response.status);
    listening();
  }
  return response;
}

function happened(condition) {
  return new Promise((resolve) => {
    listening = () => condition() && resolve();
    listening();
  });
}

const transport = new StreamableHTTPClientTransport(new URL(`${urls[0]}/mcp`), {
  fetch: fetchByTurns,
  requestInit: { headers },
});
const client = new Client(
  { name: "interop", version: "1.0.0" },
  { capabilities: { elicitation: { form: {} }, sampling: {} } },
);
const tasks = client.experimental.tasks;
client.onerror = (error) => errors.push(String(error));

const ACCEPTED = { action: "accept", content: { city: "Oslo", nights: 3 } };
let fillIn = async () => ACCEPTED;

client.setRequestHandler(ElicitRequestSchema, async (request) => {
  asked.push(request);
  return fillIn();
});
client.setRequestHandler(CreateMessageRequestSchema, async (request) => {
  asked.push(request);
  return { model: "poet", role: "assistant", content: { type: "text", text: "tea" } };
});
client.setNotificationHandler(TaskStatusNotificationSchema, ({ params }) => {
  told.set(params.taskId, [...(told.get(params.taskId) ?? []), params.status]);
  listening();
});

function call(name, args = {}, options = {}) {
  return client.callTool({ name, arguments: args }, CallToolResultSchema, options);
}

async function create(name, args = {}, task = {}) {
  const request = { method: "tools/call", params: { name, arguments: args } };
  return (await client.request(request, CreateTaskResultSchema, { task })).task;
}

async function failureOf(promise) {
  return promise.then(
    (result) => ({ unexpected: result }),
    ({ code, message, data }) => ({ code, message, data }),
  );
}

// All that callToolStream yields; `look` is called with each as it comes.
async function follow(name, args, options, look = () => {}) {
  const messages = [];
  for await (const message of tasks.callToolStream({ name, arguments: args }, CallToolResultSchema, options)) {
    look(message);
    const { error } = message;
    messages.push(error ? { type: "error", error: { code: error.code, message: error.message } } : message);
  }
  return messages;
}

// Follows a task that asks something; the user fills in the form when the task was seen to wait for it.
async function followQuestions(name, args) {
  let taskId;
  const isAwaited = new Promise((resolve) => {
    fillIn = async () => isAwaited.then(() => ACCEPTED);
    listening = () => told.get(taskId)?.includes("input_required") && resolve();
  });
  const messages = await follow(name, args, { task: {} }, (message) => {
    taskId ??= message.task?.taskId;
    listening();
  });
  await happened(() => told.get(taskId)?.includes("completed"));
  fillIn = async () => ACCEPTED;
  return { messages, asked: asked.splice(0), told: told.get(taskId), task: await tasks.getTask(taskId) };
}

const steps = {
  async initialize() {
    await client.connect(transport);
    await client.ping();
    const { protocolVersion } = transport;
    return { protocolVersion, server: client.getServerVersion(), capabilities: client.getServerCapabilities() };
  },

  async tools() {
    return client.listTools();
  },

  async plain() {
    return { result: await call("add", { a: 2, b: 3 }) };
  },

  async progress() {
    const progress = [];
    const onprogress = (report) => progress.push(report) === 1 && call("release", { label: "plain" });
    const result = await call("tell", { label: "plain" }, { onprogress });
    return { progress, result };
  },

  async task() {
    const progress = [];
    const onprogress = (report) => progress.push(report) === 1 && call("release", { label: "task" });
    const messages = await follow("tell", { label: "task" }, { task: { ttl: 90_000 }, onprogress });
    return { progress, messages };
  },

  async blocked() {
    const created = await create("gated", { label: "blocked" });
    const waiting = tasks.getTaskResult(created.taskId, CallToolResultSchema);
    const meanwhile = await tasks.getTask(created.taskId);
    await call("release", { label: "blocked" });
    return { created, meanwhile, result: await waiting };
  },

  async patience() {
    const { taskId } = await create("gated", { label: "patience" });
    const timeout = await failureOf(tasks.getTaskResult(taskId, CallToolResultSchema, { timeout: 300 }));
    await happened(() => resumed.length > 0); // its transport tries to go on with what it has given up
    const after = await tasks.getTask(taskId);
    await call("release", { label: "patience" });
    return { timeout, resumed, after, result: await tasks.getTaskResult(taskId, CallToolResultSchema) };
  },

  async list() {
    const created = [];
    for (let number = 0; number < 4; number += 1) {
      created.push((await create("add", { a: number, b: 1 })).taskId);
    }
    const pages = [];
    let cursor;
    do {
      const page = await tasks.listTasks(cursor);
      pages.push(page.tasks.map((task) => task.taskId));
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    return { created, pages, invalid: await failureOf(tasks.listTasks("no-cursor")) };
  },

  async cancel() {
    const { taskId } = await create("gated", { label: "never" });
    const waiting = failureOf(tasks.getTaskResult(taskId, CallToolResultSchema));
    const cancelled = await tasks.cancelTask(taskId);
    return { taskId, cancelled, result: await waiting, again: await failureOf(tasks.cancelTask(taskId)) };
  },

  async failed() {
    const messages = await follow("refuse", { reason: "no paper" }, { task: {} });
    const { taskId } = messages[0].task;
    return { messages, result: await tasks.getTaskResult(taskId, CallToolResultSchema) };
  },

  async required() {
    return { messages: await follow("only_as_task", {}, {}) }; // that it must be a task, it knows from tools/list
  },

  async unknown() {
    const taskId = `0-${"0".repeat(32)}`;
    const asks = [tasks.getTask(taskId), tasks.getTaskResult(taskId, CallToolResultSchema), tasks.cancelTask(taskId)];
    return { failures: await Promise.all(asks.map(failureOf)) };
  },

  async elicitation() {
    return followQuestions("book", {});
  },

  async plain_elicitation() {
    return { result: await call("book"), asked: asked.splice(0) };
  },

  async declined() {
    fillIn = async () => ({ action: "decline" });
    const result = await call("book");
    fillIn = async () => ACCEPTED;
    return { result, asked: asked.splice(0) };
  },

  async sampling() {
    const messages = await follow("rhyme", { word: "sea" }, { task: {} });
    return { messages, asked: asked.splice(0) };
  },

  async plain_sampling() {
    return { result: await call("rhyme", { word: "sea" }), asked: asked.splice(0) };
  },

  async both() {
    return followQuestions("book_and_rhyme", {});
  },

  async end() {
    const { sessionId } = transport;
    const complaints = errors.splice(0);
    await transport.terminateSession();
    await client.close();
    const ping = { jsonrpc: "2.0", id: 1, method: "ping" };
    const accept = "application/json, text/event-stream";
    const init = {
      method: "POST",
      headers: { ...headers, accept, "content-type": "application/json", "mcp-session-id": sessionId },
      body: JSON.stringify(ping),
    };
    const afterwards = await Promise.all(urls.map(async (url) => (await fetch(`${url}/mcp`, init)).status));
    return { requests, errors: complaints, afterwards };
  },
};

for (const [step, take] of Object.entries(steps)) {
  console.log(JSON.stringify({ step, ...(await take()) }));
}
