// Loaded before the Inspector, which takes one URL only: sends its requests to the nodes of NODES by turns, and appends
// a line to the file TURNS for each, with the number of the node that it went to.

import { appendFileSync } from "node:fs";

const nodes = process.env.NODES.split(" ");
const send = globalThis.fetch;
let turn = 0;

globalThis.fetch = (url, init) => {
  const node = turn++ % nodes.length;
  appendFileSync(process.env.TURNS, `${node}\n`);
  return send(nodes[node] + new URL(url).pathname, init);
};
