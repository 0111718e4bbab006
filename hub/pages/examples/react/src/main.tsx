import "./tab.js"; // first: components register tools with what it brings
import { StrictMode, useState } from "react";
import { createRoot } from "react-dom/client";
import { useTool } from "./useTool";

interface Expense {
  what: string;
  cents: number;
}

function Expenses() {
  const [expenses, setExpenses] = useState<Expense[]>([]);
  const totalCents = expenses.reduce((sum, { cents }) => sum + cents, 0);

  useTool<Expense>({
    name: "add_expense",
    description: "Adds an expense to the list that the user sees.",
    inputSchema: {
      type: "object",
      properties: {
        what: { type: "string", maxLength: 100, description: "What the money was for" },
        cents: { type: "integer", minimum: 1, description: "The amount in cents" },
      },
      required: ["what", "cents"],
    },
    async execute(expense) {
      setExpenses((before) => [...before, expense]);
      return `Added ${expense.what}.`;
    },
  });

  useTool({
    name: "list_expenses",
    description: "Returns all expenses in cents, the oldest first, and their total.",
    inputSchema: { type: "object", properties: {} },
    annotations: { readOnlyHint: true },
    execute: async () => ({ expenses, totalCents }),
  });

  return (
    <>
      <h1>Expenses</h1>
      <ul>
        {expenses.map(({ what, cents }, i) => (
          <li key={i}>
            {what}: {(cents / 100).toFixed(2)}
          </li>
        ))}
      </ul>
      <p>
        Total: <strong>{(totalCents / 100).toFixed(2)}</strong>
      </p>
    </>
  );
}

createRoot(document.getElementById("root")!).render(
  <StrictMode>
    <Expenses />
  </StrictMode>,
);
