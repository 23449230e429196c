// The task server of the TypeScript SDK, with its store in memory, as its examples have it: node server.mjs PORT

import { randomUUID } from "node:crypto";
import { InMemoryTaskMessageQueue, InMemoryTaskStore } from "@modelcontextprotocol/sdk/experimental/tasks/stores/in-memory.js";
import { createMcpExpressApp } from "@modelcontextprotocol/sdk/server/express.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { z } from "zod";

const taskStore = new InMemoryTaskStore();
const taskMessageQueue = new InMemoryTaskMessageQueue();
const capabilities = { tasks: { requests: { tools: { call: {} } } } };
const sessions = new Map();

function createServer() {
  const server = new McpServer({ name: "bench", version: "1" }, { capabilities, taskStore, taskMessageQueue });
  const config = { description: "Returns its text.", inputSchema: { text: z.string() } };
  server.experimental.tasks.registerToolTask("instant", config, {
    async createTask({ text }, { taskStore, taskRequestedTtl }) {
      const task = await taskStore.createTask({ ttl: taskRequestedTtl });
      // After the answer, as any work that takes its time.
      setImmediate(() => taskStore.storeTaskResult(task.taskId, "completed", { content: [{ type: "text", text }] }));
      return { task };
    },
    getTask: (_, { taskId, taskStore }) => taskStore.getTask(taskId),
    getTaskResult: (_, { taskId, taskStore }) => taskStore.getTaskResult(taskId),
  });
  return server;
}

async function open() {
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    enableJsonResponse: true,
    onsessioninitialized: (id) => sessions.set(id, transport),
  });
  transport.onclose = () => sessions.delete(transport.sessionId);
  await createServer().connect(transport);
  return transport;
}

const app = createMcpExpressApp();
app.get("/livez", (_, response) => response.sendStatus(200));
app.post("/mcp", async (request, response) => {
  const id = request.headers["mcp-session-id"];
  const transport = id ? sessions.get(id) : await open();
  if (!transport) {
    response.sendStatus(404);
    return;
  }
  await transport.handleRequest(request, response, request.body);
});
app.listen(Number(process.argv[2]), "127.0.0.1");
