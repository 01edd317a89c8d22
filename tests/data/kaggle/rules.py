# A ConnectX agent of the other kind: dictionary access, a memory between moves, chatter.
memory = {"moves": 0}


def my_agent(observation, configuration):
    columns = configuration["columns"]
    rows = configuration["rows"]
    board = observation["board"]
    mark = observation["mark"]

    def height(column):
        return sum(1 for row in range(rows) if board[row * columns + column] != 0)

    def completes(column, who):
        spot = rows - 1 - height(column)
        if spot < 0:
            return False
        for dr, dc in ((0, 1), (1, 0), (1, 1), (1, -1)):
            run = 1
            for sign in (1, -1):
                r, c = spot + sign * dr, column + sign * dc
                while 0 <= r < rows and 0 <= c < columns and board[r * columns + c] == who:
                    run += 1
                    r, c = r + sign * dr, c + sign * dc
            if run >= configuration["inarow"]:
                return True
        return False

    memory["moves"] += 1
    print("move", memory["moves"], "of mark", mark, "at step", observation["step"])
    for who in (mark, 3 - mark):
        for column in range(columns):
            if completes(column, who):
                return column
    order = sorted(range(columns), key=lambda c: abs(c - columns // 2))
    return next(c for c in order if height(c) < rows)
