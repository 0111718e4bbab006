// A page of components that offer tools while they are shown.
import "@mcp-b/global";
import { useWebMCP } from "@mcp-b/react-webmcp";
import { createElement, useState } from "react";
import { createRoot } from "react-dom/client";

const inputSchema = { type: "object" };
const text = (text) => ({ content: [{ type: "text", text }] });

function Later() {
  useWebMCP({ name: "later", description: "later", inputSchema, execute: async () => text("late") });
  return null;
}

function Shop() {
  const [later, show] = useState(false);
  window.change = { add: () => show(true), remove: () => show(false) };
  useWebMCP({ name: "text", description: "text", inputSchema, execute: async () => text("plain") });
  useWebMCP({
    name: "fails",
    description: "fails",
    inputSchema,
    execute: async () => {
      throw new Error("no such product");
    },
  });
  return later ? createElement(Later) : null;
}

createRoot(document.documentElement.appendChild(document.createElement("div"))).render(createElement(Shop));
