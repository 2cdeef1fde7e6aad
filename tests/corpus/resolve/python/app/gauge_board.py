class GaugeBoard:
    needle: int
    backlight = None

    def __init__(self, needle):
        self.needle = needle  #! GaugeBoard.needle
        self.backlight = needle  #! GaugeBoard.backlight
        self.frame_width = 3

    def turn(self):
        return self.needle + self.frame_width  #! GaugeBoard.needle; GaugeBoard.frame_width


def load_board(
    size: int,
) -> tuple[GaugeBoard, int]:
    return GaugeBoard(size), size


def show_board():
    board, size = load_board(3)
    return board.frame_width + size  #! GaugeBoard.frame_width
